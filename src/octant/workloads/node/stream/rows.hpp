// The kernels of node/stream, one for each value of the knob `pattern`.
#pragma once

#include "loops.hpp"
#include "octant/kernel.hpp"
#include "octant/width.hpp"

#include "kernels/worst.hpp"

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

// Throws Refusal if the lanes need more elements than `bytes` provides.
void require_bytes(octant::Context const& context, std::ptrdiff_t have_bytes, std::ptrdiff_t min_bytes,
                   std::string const& what);

// Counts of loads of doubles that bring whole lines; with each load so many bytes are read.
[[nodiscard]] octant::Counts counts_of_loads(std::ptrdiff_t loads, std::ptrdiff_t lines, std::ptrdiff_t bytes_each);

// The check of sums: the worst error of all lanes.
template <class Lane>
[[nodiscard]] octant::Results worst_sum(std::vector<Lane> const& lanes, std::string const& name) {
    double worst = 0;
    for (Lane const& lane : lanes) octant::keep_worst(worst, lane.sum_error);
    return {{name, worst, "1", 0}};
}

}  // namespace stream
