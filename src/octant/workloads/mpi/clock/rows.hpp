// The kernels of mpi/clock, one for each value of the knob `pattern`.
#pragma once

#include "octant/kernel.hpp"

namespace clocks {

[[nodiscard]] octant::Row offset_row();
[[nodiscard]] octant::Row drift_row();
[[nodiscard]] octant::Row skew_row();
[[nodiscard]] octant::Row cost_row();

// The attribute MPI_WTIME_IS_GLOBAL, for the record.
void note_global(octant::Context& context);

}  // namespace clocks
