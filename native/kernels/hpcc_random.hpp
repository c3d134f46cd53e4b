// The sequences of HPCC's RandomAccess: powers of x modulo x^64 + x^2 + x + 1 over GF(2), and a linear congruential
// generator. Any place of either can be jumped to.
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

// Both sequences as types, for loops that are compiled for each. `word` is the word of a table of 2^bits (1 to 63)
// that a number updates.
struct Polynomial {
    [[nodiscard]] static constexpr std::uint64_t next(std::uint64_t a) noexcept { return hpcc::next(a); }
    [[nodiscard]] static constexpr std::uint64_t jump(std::uint64_t n) noexcept { return hpcc::jump(n); }
    [[nodiscard]] static constexpr std::uint64_t word(std::uint64_t a, unsigned bits) noexcept {
        return a & ((std::uint64_t{1} << bits) - 1);
    }
};

struct Congruential {  // from 1; its high bits are random, its low ones are not
    static constexpr std::uint64_t factor = 6364136223846793005U;

    [[nodiscard]] static constexpr std::uint64_t next(std::uint64_t a) noexcept { return factor * a + 1; }
    [[nodiscard]] static constexpr std::uint64_t jump(std::uint64_t n) noexcept {
        std::uint64_t a = 1;
        for (std::uint64_t power = factor, sum = 1; n != 0; n >>= 1U, sum *= power + 1, power *= power)
            if ((n & 1U) != 0) a = power * a + sum;
        return a;
    }
    [[nodiscard]] static constexpr std::uint64_t word(std::uint64_t a, unsigned bits) noexcept {
        return a >> (64U - bits);
    }
};

}  // namespace octant::hpcc
