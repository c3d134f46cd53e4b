// The kernels of node/core, one for each value of the knob `pattern`.
#pragma once

#include "octant/kernel.hpp"

namespace core {

[[nodiscard]] octant::Row operations_row();
[[nodiscard]] octant::Row rob_size_row();
[[nodiscard]] octant::Row mlp_row();
[[nodiscard]] octant::Row branch_row();

[[nodiscard]] std::vector<octant::Knob> knobs();  // those of all rows

// KernelInfo::takes of rows that time their parts by phases: they have one thread.
[[nodiscard]] std::optional<octant::Refusal> one_thread(int ranks, int threads, octant::Knobs const& knobs);

}  // namespace core
