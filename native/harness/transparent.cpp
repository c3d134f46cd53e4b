#include "transparent.hpp"

#include "octant/failure.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace octant {
namespace {

constexpr std::int64_t largest_bytes = std::int64_t{2} << 20;
// Bits of /proc/self/pagemap and /proc/kpageflags, from the kernel's interface.
constexpr std::uint64_t frame_bits = (std::uint64_t{1} << 55) - 1, head_bit = 1 << 15, tail_bit = 1 << 16;

std::string folder_of(std::int64_t page_bytes) {
    return "/sys/kernel/mm/transparent_hugepage/hugepages-" + std::to_string(page_bytes / 1024) + "kB/";
}

// The word in brackets: "always [madvise] never".
std::string chosen(std::string const& path) {
    std::ifstream file(path);
    for (std::string word; file >> word;)
        if (word.front() == '[' && word.back() == ']') return word.substr(1, word.size() - 2);
    return "";
}

bool granted(std::int64_t page_bytes) {
    std::string word = chosen(folder_of(page_bytes) + "enabled");
    if (word == "inherit") word = chosen("/sys/kernel/mm/transparent_hugepage/enabled");
    return word == "always" || word == "madvise";
}

class File {
  public:
    explicit File(char const* path) : number_(open(path, O_RDONLY | O_CLOEXEC)) {}
    File(File const&) = delete;
    File& operator=(File const&) = delete;
    ~File() {
        if (number_ >= 0) close(number_);
    }
    // The entries from number `first` on: these files answer whole entries only, so no stream can read them.
    [[nodiscard]] bool read(std::vector<std::uint64_t>& entries, std::uint64_t first) const {
        auto const bytes = static_cast<ssize_t>(entries.size() * sizeof entries[0]);
        return pread(number_, entries.data(), static_cast<std::size_t>(bytes),
                     static_cast<off_t>(first * sizeof entries[0])) == bytes;
    }

  private:
    int number_;
};

}  // namespace

bool has_transparent(std::int64_t page_bytes) {
    return page_bytes < largest_bytes && !chosen(folder_of(page_bytes) + "enabled").empty();
}

// The kernel takes the largest pages that it grants and that fit into an area of equal properties. Areas are cut by a
// property without effect on pages, whether a core dump has them, to below the next size that is granted.
void advise_transparent(std::byte* data, std::size_t bytes, PagePolicy const& pages) {
    if (!granted(pages.transparent_page_bytes))
        throw Refusal("cannot use pages=" + pages.name + " (no transparent huge pages of that size on this system)" +
                          "; try pages=thp, or as root: echo madvise > " + folder_of(pages.transparent_page_bytes) +
                          "enabled",
                      Exit::not_supported);
    std::int64_t next = 2 * pages.transparent_page_bytes;
    while (next < largest_bytes && !granted(next)) next *= 2;
    auto const area = static_cast<std::size_t>(next / 2);
    madvise(data, bytes, MADV_HUGEPAGE);  // what came of it is read back
    for (std::size_t at = 0; at < bytes; at += 2 * area)
        if (madvise(data + at, std::min(area, bytes - at), MADV_DONTDUMP) != 0)
            throw Refusal("cannot use pages=" + pages.name + " for " + std::to_string(bytes) +
                              " B (too many memory areas); try a smaller size",
                          Exit::not_supported);
}

std::int64_t bytes_in_compounds(std::span<std::byte const> memory, std::size_t page_bytes) {
    auto const base = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), each = page_bytes / base;
    File const map("/proc/self/pagemap"), kinds("/proc/kpageflags");
    auto const first = reinterpret_cast<std::uintptr_t>(memory.data()) / page_bytes;
    auto const last = (reinterpret_cast<std::uintptr_t>(memory.data()) + memory.size() + page_bytes - 1) / page_bytes;
    std::vector<std::uint64_t> frames(each), flags(each);
    std::int64_t found = 0;
    for (auto page = first; page < last; ++page) {
        if (!map.read(frames, page * each)) return -1;
        std::uint64_t const frame = frames[0] & frame_bits;
        bool const present = (frames[0] >> 63) != 0;
        if (!present) continue;
        if (frame == 0 || !kinds.read(flags, frame)) return -1;
        bool whole = frame % each == 0 && (flags[0] & (head_bit | tail_bit)) != 0;
        for (std::size_t i = 1; i < each; ++i)
            whole = whole && (frames[i] & frame_bits) == frame + i && (flags[i] & tail_bit) != 0;
        if (whole) found += static_cast<std::int64_t>(page_bytes);
    }
    return found;
}

}  // namespace octant
