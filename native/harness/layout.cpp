// Physical pages that are drawn anew. Processes that follow each other inherit each other's pages, and which lines of a
// physically indexed cache collide depends on them: latency in L2 differs by a tenth from one set of pages to another.
#include "octant/amounts.hpp"
#include "octant/failure.hpp"
#include "octant/memory.hpp"

#include <unistd.h>

#include <fstream>
#include <random>

namespace octant {

Layout layout_of(std::string const& word, PagePolicy const& pages) {
    if (word == "given") return Layout::given;
    if (word == "auto") return pages.name == "base" ? Layout::fitting : Layout::given;
    if (pages.name != "base" && pages.name != "default")
        throw Refusal("cannot use layout=random with pages=" + pages.name +
                      " (only base pages can be selected); try pages=base, or layout=given");
    return Layout::random;
}

std::int64_t cache_bytes(int level) {
    for (int index = 0; index < 8; ++index) {
        std::string const folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
        int found = 0;
        std::string size;
        if (std::ifstream(folder + "level") >> found && found == level && std::ifstream(folder + "size") >> size)
            return parse_bytes(size);
    }
    return std::max(0L, sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE));
}

void Mapping::draw_pages(std::size_t first, std::size_t last, std::uint64_t seed) const {
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::size_t const begin = (first + page - 1) / page, end = (last + page - 1) / page;
    if (begin >= end) return;
    Mapping const others((end - begin) * (pool_factor - 1) * page, {"base"}, nodes_);
    auto const touch = [](std::byte* at) { *static_cast<std::byte volatile*>(at) = std::byte{0}; };
    std::mt19937_64 random(seed);
    std::byte* other = others.data();
    for (std::size_t i = begin; i < end; ++i) {
        std::size_t const drawn = random() % pool_factor;
        for (std::size_t turn = 0; turn < pool_factor; ++turn) {
            if (turn == drawn) {
                touch(data_ + i * page);
            } else {
                touch(other);
                other += page;
            }
        }
    }
}

}  // namespace octant
