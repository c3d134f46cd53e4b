// SplitMix64 (Steele, Lea and Flood 2014): the same numbers on every machine, from an explicit seed.
#pragma once

#include <cstdint>

namespace octant {

inline constexpr std::uint64_t golden_step = 0x9E3779B97F4A7C15U;

[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

// A value in [-1, 1) with all bits of its mantissa in use, from its index: no state, so threads may fill in any order.
[[nodiscard]] constexpr double random_at(std::uint64_t i, std::uint64_t stream) noexcept {
    std::uint64_t const bits = mixed((i + 1) * golden_step + stream * 0xD1B54A32D192ED03U);
    return static_cast<double>(static_cast<std::int64_t>(bits) >> 11) * 0x1p-52;
}

class Random {
  public:
    explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}
    [[nodiscard]] constexpr std::uint64_t next() noexcept { return mixed(state_ += golden_step); }
    [[nodiscard]] constexpr std::uint64_t below(std::uint64_t bound) noexcept {
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
    }

  private:
    __extension__ using Wide = unsigned __int128;
    std::uint64_t state_;
};

}  // namespace octant
