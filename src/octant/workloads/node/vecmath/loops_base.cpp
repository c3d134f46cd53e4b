// For every processor of this architecture: one element at a time, and 128 bits (SSE2, NEON, VSX).
#include "loops.hpp"

vecmath::Calls vecmath::calls_scalar() { return calls<Copied, 64, 32>(); }
vecmath::Calls vecmath::calls_128() { return calls<Copied, 128, 128>(); }
