// For every processor of this architecture: 128 bits (SSE2, NEON, VSX).
#include "kernels/fft/lanes.hpp"

octant::fft::Passes octant::fft::passes_128() { return passes<128>(); }
