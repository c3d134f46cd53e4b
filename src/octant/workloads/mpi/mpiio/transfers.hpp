// One rank's blocks in a file: where they lie, how they are moved, and whether all arrived.
#pragma once

#include "folder.hpp"
#include "kernels/pattern.hpp"
#include "octant/kernel.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mpiio {

[[nodiscard]] std::vector<octant::Knob> knobs();

class File {  // owns an MPI_File; after a failure it is not closed, since closing is collective
  public:
    File(MPI_Comm comm, std::string const& path, int mode) : exceptions_(std::uncaught_exceptions()) {
        octant::check(MPI_File_open(comm, path.c_str(), mode, MPI_INFO_NULL, &handle_));
    }
    File(File&& other) noexcept
        : handle_(std::exchange(other.handle_, MPI_FILE_NULL)), exceptions_(other.exceptions_) {}
    File(File const&) = delete;
    File& operator=(File const&) = delete;
    File& operator=(File&&) = delete;
    ~File() {
        if (handle_ != MPI_FILE_NULL && std::uncaught_exceptions() <= exceptions_) MPI_File_close(&handle_);
    }
    [[nodiscard]] MPI_File get() const noexcept { return handle_; }
    void close() { octant::check(MPI_File_close(&handle_)); }

  private:
    MPI_File handle_ = MPI_FILE_NULL;
    int exceptions_;
};

enum class Access { individual, shared, explicit_offset, own_file };

struct Spec {         // the parts of a pattern's name, such as "p-iwrite-shared"
    bool alone;       // only the first rank: s-
    bool collective;  // c-
    bool writes;
    Access access;
    [[nodiscard]] static Spec of(std::string const& pattern);
    [[nodiscard]] static std::vector<std::string> names(bool nonblocking);  // of all that there are
};

class Transfers {
  public:
    explicit Transfers(octant::Context& context);
    void set_up();   // opens, and fills what is to be read; collective
    void prepare();  // back to the beginning; creates an empty file, or drops caches, if requested; collective

    [[nodiscard]] Spec const& spec() const noexcept { return spec_; }
    [[nodiscard]] bool plays() const noexcept { return !spec_.alone || group_.rank() == 0; }
    [[nodiscard]] int count() const noexcept { return count_; }  // of transfers before a sync
    [[nodiscard]] octant::Counts work(char const* what) const;

    void move(int k);  // the k-th transfer, to its end
    void post(int k);  // begins it …
    void wait(int k);  // … and ends it
    void sync();       // until what was written is on the disk

    // Other contents, moved once more by `move_all`, and compared: what was written by another rank than its writer.
    octant::Results verify(std::function<void()> const& move_all);
    void corrupt(std::size_t fault) noexcept { fault_ = static_cast<int>(fault); }
    [[nodiscard]] octant::Results results();

  private:
    struct Block {  // the number-th of a rank
        int rank, number;
    };
    [[nodiscard]] MPI_Offset offset_of(Block block) const {
        return (static_cast<MPI_Offset>(block.number) * sharing_ + (sharing_ > 1 ? block.rank : 0)) * bytes_;
    }
    [[nodiscard]] MPI_Offset offset_of_mine(int k) const { return offset_of({group_.rank(), k}); }
    [[nodiscard]] std::uint8_t* memory(int k) const { return memory_.data() + static_cast<std::size_t>(k) * stride_; }
    [[nodiscard]] std::span<std::uint8_t> block(int k) const { return {memory(k), static_cast<std::size_t>(bytes_)}; }
    // Contents of a block: who wrote it, which one it is and when, and behind that a pattern of as much.
    void fill(std::span<std::uint8_t> bytes, Block of, int pass) const;
    void poison(std::span<std::uint8_t> bytes, Block of, int pass) const;
    void compare(std::span<std::uint8_t const> bytes, Block with, int pass);
    [[nodiscard]] bool is(std::span<std::uint8_t const> bytes, Block block, int pass) const;
    [[nodiscard]] int file_of(int rank) const noexcept { return spec_.access == Access::own_file ? rank : 0; }
    // The rank whose blocks this rank verifies, which is never itself; -1: none.
    [[nodiscard]] int verified_rank() const;
    void write(int k);
    void read(int k);
    void set_view();
    void fill_file(int pass);
    void drop_from_cache() const;
    [[nodiscard]] double cached_share() const;
    void spoil();
    void compare_written(int pass);
    void compare_read(int pass);
    void compare_any_order(std::vector<std::int64_t> const& found, int pass);
    [[nodiscard]] std::int64_t name_of(Block block, int pass) const;
    [[nodiscard]] std::int64_t found_in(std::span<std::uint8_t const> bytes, int pass) const;

    octant::Context& context_;
    octant::Comm const& group_;
    Spec spec_;
    int bytes_, count_;
    int sharing_;  // ranks that share a file
    bool fresh_, cold_;
    std::size_t stride_;
    octant::Buffer<std::uint8_t> memory_;
    Folder folder_;
    std::optional<File> file_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    octant::Mismatch wrong_;
    double size_off_ = 0;
    int fault_ = -1;
};

}  // namespace mpiio
