// Work of a known amount that touches no memory: what a rank computes while messages are under way.
#pragma once

#include <cstdint>

namespace octant {

// `units` times a chain of 32 multiply-adds, each of which waits for the one before. Returns the end of the chain, to
// be passed on to the next call.
[[nodiscard]] inline double busy(double value, std::int64_t units) noexcept {
    for (std::int64_t unit = 0; unit < units; ++unit)
        for (int i = 0; i < 32; ++i) value = value * 0.75 + 1e-3;
    return value;
}

}  // namespace octant
