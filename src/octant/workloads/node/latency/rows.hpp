// The kernels of node/latency, one for each value of the knob `pattern`.
#pragma once

#include "octant/kernel.hpp"

namespace latency {

[[nodiscard]] octant::Row lines_row();
[[nodiscard]] octant::Row pages_row();
[[nodiscard]] octant::Row loaded_row();

[[nodiscard]] std::vector<octant::Knob> knobs();  // those of all rows

}  // namespace latency
