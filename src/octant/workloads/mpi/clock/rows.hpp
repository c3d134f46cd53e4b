// The kernels of mpi/clock, one for each value of the knob `pattern`.
#pragma once

#include "octant/kernel.hpp"

namespace clocks {

[[nodiscard]] octant::Row offset_row();
[[nodiscard]] octant::Row drift_row();
[[nodiscard]] octant::Row skew_row();
[[nodiscard]] octant::Row cost_row();

// Whether MPI says that MPI_Wtime is the same clock on all ranks: a fact for the record.
void note_global(octant::Context& context);

}  // namespace clocks
