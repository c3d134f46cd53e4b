// The kernels of node/core, one for each value of the knob `pattern`.
#pragma once

#include "octant/kernel.hpp"

namespace core {

[[nodiscard]] octant::Row operations_row();
[[nodiscard]] octant::Row window_row();
[[nodiscard]] octant::Row misses_row();
[[nodiscard]] octant::Row branch_row();

[[nodiscard]] std::vector<octant::Knob> knobs();  // those of all rows

// Rows that time their parts by phases have one thread; more would be refused. Throws Refusal.
void one_thread(octant::Context const& context, char const* pattern);

}  // namespace core
