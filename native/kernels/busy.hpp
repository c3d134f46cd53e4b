// Work of a known amount that touches no memory: what a rank computes while messages are under way.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace octant {

// `units` times a chain of 32 multiply-adds, each of which waits for the one before. Returns the end of the chain, to
// be passed on to the next call.
[[nodiscard]] inline double busy(double value, std::int64_t units) noexcept {
    for (std::int64_t unit = 0; unit < units; ++unit)
        for (int i = 0; i < 32; ++i) value = value * 0.75 + 1e-3;
    return value;
}

// The median of a few times of `body`, against what others took from this core; `seconds_of` times it once.
template <class SecondsOf, class Body>
[[nodiscard]] double median_seconds(SecondsOf const& seconds_of, Body const& body) {
    std::array<double, 11> seconds;
    std::ranges::generate(seconds, [&] { return seconds_of(body); });
    std::ranges::nth_element(seconds, seconds.begin() + seconds.size() / 2);
    return seconds[seconds.size() / 2];
}

// How long a unit of busy() takes on this core. `value` is carried on.
template <class SecondsOf>
[[nodiscard]] double unit_seconds(SecondsOf const& seconds_of, double& value) {
    constexpr std::int64_t trial = 2000;
    return median_seconds(seconds_of, [&] { value = busy(value, trial); }) / trial;
}

}  // namespace octant
