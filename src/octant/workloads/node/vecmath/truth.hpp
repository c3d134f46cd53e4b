// The values of the functions at the first arguments of each distribution, to 1/65536 of a unit in the last place:
// computed in 160 bits when the table was made (tests/support/vecmath_truth.py).
#pragma once

#include <cstddef>
#include <cstdint>

namespace vecmath {

inline constexpr std::size_t truths = 2048;

struct Truth {
    double high;  // the value rounded to double
    double rest;  // exact value minus `high`, in units in the last place of `high`
};

// `part`: functions in their order, for each uniform in value and uniform in exponent.
[[nodiscard]] Truth truth(std::size_t part, std::size_t i);
[[nodiscard]] std::size_t truth_bytes();

}  // namespace vecmath
