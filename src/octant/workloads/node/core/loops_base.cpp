// For every processor of this architecture: one element at a time, and 128 bits (SSE2, NEON, VSX).
#include "loops.hpp"

core::Floating core::floating_scalar() { return floating<0>(); }
core::Floating core::floating_128() { return floating<128>(); }
