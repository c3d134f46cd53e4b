// Files that a kernel stores in the folder of the run: kept in memory until the point ends, so that writing does not
// disturb measurements, then written by rank 0 before the record that names them. docs/records.md describes them.
#pragma once

#include "octant/mpi.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octant {

struct FileLimits {
    std::int64_t file_bytes = std::int64_t{16} << 20;
    std::int64_t launch_bytes = std::int64_t{64} << 20;  // of all ranks and points together
    std::int64_t launch_files = 256;
    static constexpr std::size_t rank_files = 32;  // of one rank in one point
    static constexpr std::size_t name_bytes = 64;
    static constexpr std::size_t kind_bytes = 32;
};

struct KeptFile {
    std::string name, kind;
    std::int64_t size = 0;
    std::vector<std::byte> bytes = {};  // empty if it is not stored
    std::string left_out = {};          // why it cannot be stored
};

class KeptFiles {  // of one rank in one point
  public:
    explicit KeptFiles(FileLimits const& limits = {}) : limits_(limits) {}

    // Copies `bytes`; a file of the same name is replaced. A file that is too large, or for which `memory_left` has no
    // room, is left out, and the record says why. Throws Refusal: `name` or `kind` is not a letter or digit followed by
    // letters, digits and . _ -; too long; or too many files.
    void keep(std::string const& name, std::string const& kind, std::span<std::byte const> bytes,
              std::int64_t& memory_left);
    [[nodiscard]] std::vector<KeptFile> const& list() const noexcept { return files_; }

  private:
    FileLimits limits_;
    std::vector<KeptFile> files_;
};

// Writes the files of a launch to FOLDER/files/LAUNCH.TOKEN/PLACE.RANK.NAME. TOKEN is random and its folder is created
// exclusively, so that the files of two attempts of a launch are never mixed. Used by rank 0 alone.
class FileWriter {
  public:
    // `records`: path of the records file, whose folder is the run's; "-" is standard output, which has no folder.
    FileWriter(std::string_view records, std::string_view launch, FileLimits const& limits = {});
    FileWriter(FileWriter const&) = delete;
    FileWriter& operator=(FileWriter const&) = delete;
    ~FileWriter();

    // The limit that prevents storing a file of this size; empty: none, and the file is counted as stored.
    [[nodiscard]] std::string admit(std::int64_t bytes);
    // Writes a file durably, and its path below FOLDER/files to `stored`. Returns why this failed; empty: it did not.
    [[nodiscard]] std::string write(int place, int rank, KeptFile const& file, std::span<std::byte const> bytes,
                                    std::string& stored);

  private:
    [[nodiscard]] int open_folder();
    std::string run_folder_, attempt_;
    FileLimits limits_;
    std::int64_t bytes_ = 0, files_ = 0;
    int folder_ = -1;
};

// Collective over the world: what all ranks kept in the point number `place`, written by rank 0, as the items of the
// record's list `files`; empty on other ranks and where nothing was kept.
[[nodiscard]] std::string write_files(Comm const& world, std::vector<KeptFile> const& mine, FileWriter& writer,
                                      int place);

}  // namespace octant
