// A histogram of times that can be merged by addition: by exponent and 8 bits of mantissa, so that the middle of a bin
// is within 0.2 % of each value in it.
#pragma once

#include "octant/json_text.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace octant {

class Sketch {
  public:
    static constexpr int bits = 8;
    static constexpr std::size_t bins = 63U << bits;

    void insert(std::int64_t value) noexcept { ++counts_[value > 0 ? 1 + bin(value) : 0]; }
    // With e = floor(log2 value): e * 256 + floor((value / 2^e - 1) * 256). `value` is positive.
    [[nodiscard]] static std::size_t bin(std::int64_t value) noexcept {
        auto const bare = static_cast<std::uint64_t>(value);
        auto const exponent = static_cast<std::size_t>(std::bit_width(bare) - 1);
        std::uint64_t const mantissa = exponent >= bits ? bare >> (exponent - bits) : bare << (bits - exponent);
        return (exponent << bits) + (mantissa & ((1U << bits) - 1));
    }
    // Counts of what is not positive, then of each bin: sketches are merged by adding these up.
    [[nodiscard]] std::span<std::int64_t> counts() noexcept { return counts_; }
    // {"bits":8,"count":n,"zero":n0,"bins":[[first bin,[counts…]],…]}: runs of bins that are not empty
    void write(JsonText& text) const;

  private:
    std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(1 + bins);
};

}  // namespace octant
