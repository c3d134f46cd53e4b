// In which order hardware threads are taken when a mask offers more of them than there are threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace octant {

struct HardwareThread {
    int cpu;              // its number
    int kind;             // of core, where a processor has several
    int package, domain;  // domain: of memory
    int cache, core;      // the lowest hardware thread that shares its last cache, its core; cache -1: not known
};

// As the system describes them.
[[nodiscard]] std::vector<HardwareThread> hardware_threads(std::span<std::int64_t const> cpus);

// Every hardware thread once: one of each core before the second of any, neighbours in memory and cache before others,
// and drawn at random among those that lie alike. So the first n have the same layout whatever the seed is: one limit
// serves all.
[[nodiscard]] std::vector<std::int64_t> seat_order(std::vector<HardwareThread> threads, std::uint64_t seed);

}  // namespace octant
