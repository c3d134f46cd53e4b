// Compiled for AVX-512; called only where the processor has it.
#include "kernels/fft/lanes.hpp"

octant::fft::Passes octant::fft::passes_512() { return passes<512>(); }
