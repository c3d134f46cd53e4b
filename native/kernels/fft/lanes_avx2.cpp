// Compiled for AVX2; called only where the processor has it.
#include "kernels/fft/lanes.hpp"

octant::fft::Passes octant::fft::passes_256() { return passes<256>(); }
