#include "release.hpp"

#include "kernels/random.hpp"
#include "octant/failure.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

namespace memory {

Resident resident() {
    Resident found;
    bool exists = false;
    std::ifstream rollup("/proc/self/smaps_rollup");
    for (std::string line; std::getline(rollup, line);) {
        long kib = 0;
        if (std::sscanf(line.c_str(), "Rss: %ld kB", &kib) == 1) {
            found.bytes = kib * std::int64_t{1024};
            exists = true;
        }
        if (std::sscanf(line.c_str(), "LazyFree: %ld kB", &kib) == 1) found.lazy = kib * std::int64_t{1024};
    }
    if (!exists)
        throw octant::Refusal(
            "cannot read the resident memory (/proc/self/smaps_rollup is not available); use Linux 4.14 or later",
            octant::Exit::not_supported);
    return found;
}

// Counts resident pages with mincore(). It fails if a page is not mapped: the range is then divided into halves.
std::int64_t resident_bytes_of(std::byte const* begin, std::byte const* end) {
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto const first = reinterpret_cast<std::uintptr_t>(begin) / page * page;
    std::size_t const pages = (reinterpret_cast<std::uintptr_t>(end) - first + page - 1) / page;
    std::vector<unsigned char> found(pages);
    auto* const address = const_cast<std::byte*>(begin) - (reinterpret_cast<std::uintptr_t>(begin) - first);
    if (pages == 0) return 0;
    if (mincore(address, pages * page, found.data()) != 0) {
        std::byte const* const middle = address + pages / 2 * page;
        return pages == 1 ? 0 : resident_bytes_of(address, middle) + resident_bytes_of(middle, end);
    }
    auto const there = std::ranges::count_if(found, [](unsigned char one) { return (one & 1U) != 0; });
    return static_cast<std::int64_t>(there) * static_cast<std::int64_t>(page);
}

// Memory of a block in glibc: one additional word, rounded up to two words, at least four words.
double Region::bytes_for(Way way, std::int64_t bytes, std::int64_t block) noexcept {
    if (maps(way)) return static_cast<double>(bytes);
    constexpr std::int64_t word = sizeof(void*);
    std::int64_t const taken = std::max(4 * word, (block + 3 * word - 1) / (2 * word) * (2 * word));
    return static_cast<double>(bytes / block) * static_cast<double>(taken + word);
}

Region::Region(Way way, std::int64_t bytes, std::int64_t block)
    : way_(way), bytes_(static_cast<std::size_t>(bytes)), block_(static_cast<std::size_t>(block)) {
    if (!maps(way_)) blocks_.reserve(bytes_ / block_);
}

Region::~Region() { end(); }

void Region::take() {
    if (is_mapped_) return;
    if (maps(way_)) {
        void* const address = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (address == MAP_FAILED)
            throw octant::Refusal(std::string("cannot map memory (") + std::strerror(errno) +
                                  "); try a smaller bytes=");
        begin_ = static_cast<std::byte*>(address);
        end_ = begin_ + bytes_;
        is_mapped_ = true;
        return;
    }
    begin_ = end_ = nullptr;
    for (std::size_t i = 0; i < bytes_ / block_; ++i) {
        auto* const one = static_cast<std::byte*>(std::malloc(block_));
        if (one == nullptr) throw octant::Refusal("cannot allocate memory (malloc failed); try a smaller bytes=");
        blocks_.push_back(one);
        begin_ = begin_ == nullptr ? one : std::min(begin_, one);
        end_ = std::max(end_, one + block_);
    }
    if (way_ != Way::free && held_ == nullptr) held_ = static_cast<std::byte*>(std::malloc(block_));
}

void Region::write(std::uint64_t seed) const {
    std::uint64_t number = seed;
    each_page([&](std::uint64_t* word) { *word = octant::mixed(++number); });
}

std::int64_t Region::wrong(std::uint64_t seed) const {
    std::uint64_t number = seed;
    std::int64_t count = 0;
    each_page([&](std::uint64_t const* word) { count += *word == octant::mixed(++number) ? 0 : 1; });
    return count;
}

void Region::spoil() const {
    bool first = true;
    each_page([&](std::uint64_t* word) { *word ^= std::exchange(first, false) ? 1U : 0U; });
}

void Region::free_blocks() {
    for (std::byte* const one : blocks_) std::free(one);
    blocks_.clear();
}

void Region::release() {
    switch (way_) {
        case Way::free_below_held:
        case Way::free:
            free_blocks();
            break;
        case Way::trim:
            free_blocks();
            malloc_trim(0);
            break;
        case Way::unmap:
            unmap();
            break;
        case Way::lazy:
            madvise(begin_, bytes_, MADV_FREE);
            break;
        case Way::dontneed:
            madvise(begin_, bytes_, MADV_DONTNEED);
            break;
    }
}

void Region::unmap() {
    if (is_mapped_) munmap(begin_, bytes_);
    is_mapped_ = false;
}

void Region::end() {
    free_blocks();
    std::free(std::exchange(held_, nullptr));
    unmap();
    malloc_trim(0);
}

}  // namespace memory
