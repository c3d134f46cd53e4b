// The kernels of node/stream, one for each value of the knob `pattern`.
#pragma once

#include "loops.hpp"
#include "octant/kernel.hpp"
#include "octant/width.hpp"

namespace stream {

[[nodiscard]] octant::Row contiguous_row();
[[nodiscard]] octant::Row strided_row();
[[nodiscard]] octant::Row gather_row();
[[nodiscard]] octant::Row streams_row();
[[nodiscard]] octant::Row transposed_row();

[[nodiscard]] std::vector<octant::Knob> knobs();  // those of all rows

struct Width {
    std::string name;
    Table loops;
};

// The vector widths of this processor, narrow to wide.
[[nodiscard]] std::vector<Width> widths();

// A knob in bytes as a number of doubles. Throws Refusal: it is no whole number of them.
[[nodiscard]] std::ptrdiff_t doubles(octant::Context const& context, char const* knob);

// Throws Refusal: what is asked needs more elements than `bytes` gives each lane.
void enough_or_refuse(octant::Context const& context, std::ptrdiff_t have_bytes, std::ptrdiff_t least_bytes,
                      std::string const& what);

}  // namespace stream
