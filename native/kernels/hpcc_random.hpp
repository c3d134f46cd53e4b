// The sequence of HPCC's RandomAccess: powers of x modulo x^64 + x^2 + x + 1 over GF(2), so that any place in it can be
// jumped to.
#pragma once

#include <cstdint>

namespace octant::hpcc {

inline constexpr std::uint64_t polynomial = 7;

[[nodiscard]] constexpr std::uint64_t next(std::uint64_t a) noexcept {
    return (a << 1U) ^ (static_cast<std::int64_t>(a) < 0 ? polynomial : 0);
}

// a * b in GF(2)[x] modulo the polynomial: one shift-and-add a bit of b.
[[nodiscard]] constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t product = 0;
    for (; b != 0; b >>= 1U, a = next(a))
        if ((b & 1U) != 0) product ^= a;
    return product;
}

// x^n by squaring: the n-th number of the sequence.
[[nodiscard]] constexpr std::uint64_t jump(std::uint64_t n) noexcept {
    std::uint64_t power = 1;
    for (std::uint64_t square = 2; n != 0; n >>= 1U, square = multiply(square, square))
        if ((n & 1U) != 0) power = multiply(power, square);
    return power;
}

}  // namespace octant::hpcc
