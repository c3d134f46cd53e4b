// One rank's file and the memory that it is written from or read into: moved block by block, and compared.
#pragma once

#include "data_file.hpp"
#include "kernels/files/contents.hpp"
#include "octant/kernel.hpp"
#include "transfer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace local {

[[nodiscard]] std::vector<octant::Knob> knobs();

class Blocks {
  public:
    // `background`: blocking calls are not what engine=auto takes. `length`: the knob of how long transfers are.
    Blocks(octant::Context& context, bool writes, bool background, std::string const& length = "block");

    void set_up();   // fills what is to be read
    void prepare();  // creates an empty file, or drops the page cache, if requested

    [[nodiscard]] bool writes() const noexcept { return writes_; }
    [[nodiscard]] bool syncs() const noexcept { return writes_ && fsync_; }
    [[nodiscard]] std::int64_t count() const noexcept { return (file_.bytes() + block_ - 1) / block_; }
    [[nodiscard]] octant::Counts work() const;

    // All blocks between `memory` and the file, to their ends.
    void move_all(std::byte* memory, std::int64_t block) { move_all(memory, block, *engine_, {}); }
    void move_all() { move_all(memory_.data(), block_); }
    // Calls `meanwhile` after the begin of each transfer (overlapped), or after its end (alternating).
    void move_all_overlapped(std::function<void()> const& meanwhile) {
        move_all(memory_.data(), block_, *engine_, meanwhile);
    }
    void move_all_sequential(std::function<void()> const& meanwhile) {
        move_all(memory_.data(), block_, *calls_, meanwhile);
    }
    void sync();  // if requested
    [[nodiscard]] std::byte* memory() const noexcept { return memory_.data(); }
    [[nodiscard]] std::int64_t block() const noexcept { return block_; }
    [[nodiscard]] std::int64_t bytes() const noexcept { return file_.bytes(); }

    // Other contents, moved once more by `step`, and compared with what a read through the page cache finds.
    octant::Results verify(std::function<void()> const& step);
    void corrupt(std::size_t fault) noexcept { fault_ = static_cast<int>(fault); }
    [[nodiscard]] octant::Results results();

  private:
    void move_all(std::byte* memory, std::int64_t block, Engine& engine, std::function<void()> const& meanwhile);
    void move(std::byte* memory, std::int64_t block, std::int64_t number, std::int64_t place, Engine& engine);
    [[nodiscard]] std::uint64_t stream(int pass) const noexcept;
    void fill_file(int pass);
    void compare_file(int pass);
    [[nodiscard]] std::span<std::byte> whole() const noexcept {
        return {memory_.data(), static_cast<std::size_t>(file_.bytes())};
    }

    octant::Context& context_;
    bool writes_, fsync_, fresh_, cold_;
    std::int64_t block_;
    DataFile file_;
    octant::Buffer<std::byte> memory_;
    std::unique_ptr<Engine> engine_, calls_;
    octant::WrongBytes wrong_;
    double cached_ = 0;  // the greatest share that a read found in the page cache
    int fault_ = -1;
    bool exchanges_ = false;  // there are two blocks for it
};

}  // namespace local
