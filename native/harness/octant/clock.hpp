// The clock of all measurements. CLOCK_MONOTONIC is shared by all ranks of a node and read through the vDSO, without a
// system call.
#pragma once

#include <ctime>

#include <cstdint>

namespace octant {

[[nodiscard]] inline std::int64_t now_ns() noexcept {
    std::timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

inline void spin_until(std::int64_t target_ns) noexcept {
    while (now_ns() < target_ns) {
    }
}

struct ClockQuality {
    double cost_ns;        // median cost of one reading
    double resolution_ns;  // smallest observed difference of two readings
};

[[nodiscard]] ClockQuality measure_clock();

// Hertz of the core this runs on: dependent integer additions, one per cycle on every processor in scope; the median of
// `blocks` pieces of ~7 us, so that interruptions and outliers have no influence.
[[nodiscard]] double core_frequency_hz(int blocks = 40);

}  // namespace octant
