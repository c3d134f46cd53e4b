// Order in which hardware threads are used if a mask contains more of them than threads.
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

// Returns every hardware thread once: one per core first, neighbours in memory and cache first, random among equivalent
// ones. The first n have the same layout for every seed, so that one limit applies to all.
[[nodiscard]] std::vector<std::int64_t> seat_order(std::vector<HardwareThread> threads, std::uint64_t seed);

}  // namespace octant
