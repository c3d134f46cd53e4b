// The contents of the matrices: each rank makes its own part, and compares what it got with what was due.
#pragma once

#include "layout.hpp"

#include <cstdint>
#include <string>

namespace ptrans {

struct Numbers {  // entry (i, j) is number i + j n
    enum class Kind { hpcc, independent } kind = Kind::hpcc;
    std::uint64_t seed = 0;

    // Numbers first, first + stride, …
    void run(double* to, std::uint64_t first, std::uint64_t stride, std::int64_t count) const;
};

inline constexpr Numbers hpcc_a{Numbers::Kind::hpcc, 100}, hpcc_c{Numbers::Kind::hpcc, 200};

// `part`: column by column, without gaps.
void fill(double* part, Layout const& layout, Place at, Numbers const& numbers);

struct Difference {
    double largest = 0;  // a NaN where there is one
    double unequal = 0;  // elements that are not the rounded sum
    std::string where;   // of the first of these
};

// Difference of this part of C from A transposed + C, regenerated from both sequences.
[[nodiscard]] Difference compare(double const* part, Layout const& layout, Place at, Numbers const& a,
                                 Numbers const& c);

}  // namespace ptrans
