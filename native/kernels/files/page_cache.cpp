#include "kernels/files/page_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace octant {

double cached_share(int file, std::int64_t first_bytes) {
    std::int64_t const length = file < 0 ? 0 : lseek(file, 0, SEEK_END);
    auto const size = static_cast<std::size_t>(std::clamp<std::int64_t>(length, 0, first_bytes));
    void* const pages = size == 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (pages == MAP_FAILED) return 1;
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> resident((size + page - 1) / page);
    double share = 1;
    if (mincore(pages, size, resident.data()) == 0)
        share =
            static_cast<double>(std::ranges::count_if(resident, [](unsigned char one) { return (one & 1U) != 0; })) /
            static_cast<double>(resident.size());
    munmap(pages, size);
    return share;
}

double drop_from_cache(int file, bool in_memory) {
    constexpr int tries = 50;
    constexpr useconds_t pause_us = 200;
    double share = 1;
    for (int i = 0; i < tries; ++i) {
        if (fdatasync(file) == 0) static_cast<void>(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
        share = cached_share(file);
        if (in_memory || share == 0) break;
        usleep(pause_us);
    }
    return share;
}

std::int64_t dirty_pages(int file) {
    constexpr long cachestat = 451;  // on every architecture; headers of older kernels do not name it
    struct {
        std::uint64_t offset = 0, length = 0;  // 0: to the end
    } range;
    struct {
        std::uint64_t cached, dirty, written_back, evicted, recently_evicted;
    } found{};
    if (syscall(cachestat, file, &range, &found, 0U) != 0) return -1;
    return static_cast<std::int64_t>(found.dirty + found.written_back);
}

}  // namespace octant
