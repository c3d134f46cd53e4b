// The numbers of HPL's and PTRANS's matrices: a linear congruential sequence modulo 2^64, any place of which can be
// jumped to, so that a rank makes its own blocks.
#pragma once

#include <cstdint>

namespace octant::hpl {

inline constexpr std::uint64_t multiplier = 6364136223846793005U, increment = 1;

struct Jump {  // x -> factor x + term
    std::uint64_t factor = 1, term = 0;
    [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t x) const noexcept { return factor * x + term; }
};

// n steps of the sequence at once, by squaring.
[[nodiscard]] constexpr Jump jump(std::uint64_t n) noexcept {
    Jump all, power{multiplier, increment};
    for (; n != 0; n >>= 1U, power = {power.factor * power.factor, power.factor * power.term + power.term})
        if ((n & 1U) != 0) all = {power.factor * all.factor, power.factor * all.term + power.term};
    return all;
}

// A number of the sequence as an entry of the matrix, in (-0.5, 0.5].
[[nodiscard]] constexpr double entry(std::uint64_t x) noexcept { return 0.5 - static_cast<double>(x >> 11U) * 0x1p-53; }

}  // namespace octant::hpl
