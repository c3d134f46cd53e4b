// A file of one rank without a name: it is gone when the process is, however that ends.
#pragma once

#include "kernels/files/descriptor.hpp"
#include "octant/context.hpp"
#include "octant/failure.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace local {

enum class Mode { buffered, direct, mapped };
inline constexpr std::int64_t direct_bytes = 4096;  // memory, places and lengths of direct transfers are multiples

// Refusal for a feature that the file system does not support: "cannot WHAT (WHY); try HINT".
[[nodiscard]] octant::Refusal cannot(std::string const& what, std::string const& why, std::string const& hint);

class DataFile {
  public:
    // Throws Refusal: the folder is none that files may be written to, has too little room, or no files of that mode.
    DataFile(octant::Context& context, std::int64_t bytes);
    DataFile(DataFile const&) = delete;
    DataFile& operator=(DataFile const&) = delete;
    ~DataFile();

    void empty();                 // to a length of 0; of a mapped one the room is taken at once
    [[nodiscard]] double drop();  // from the page cache; the share that stays
    void sync();                  // until all that was written is on the disk; throws Refusal

    [[nodiscard]] Mode mode() const noexcept { return mode_; }
    [[nodiscard]] int plain() const noexcept { return plain_.get(); }    // through the page cache
    [[nodiscard]] int direct() const noexcept { return direct_.get(); }  // past it; -1 but in that mode
    [[nodiscard]] std::byte* mapped() const noexcept { return mapped_; }
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::int64_t size() const;  // as the system has it
    [[nodiscard]] std::int64_t syncs() const noexcept { return syncs_; }
    [[nodiscard]] bool in_memory() const noexcept { return in_memory_; }

  private:
    void open();
    [[nodiscard]] int unnamed() const;
    std::string folder_;
    std::int64_t bytes_, syncs_ = 0;
    Mode mode_;
    bool in_memory_ = false;
    octant::Descriptor plain_, direct_;
    std::byte* mapped_ = nullptr;
};

}  // namespace local
