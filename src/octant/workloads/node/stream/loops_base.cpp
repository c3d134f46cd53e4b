// For every processor of this architecture: one element at a time, and 128 bits (SSE2, NEON, VSX).
#include "loops.hpp"

stream::Table stream::scalar_loops() { return table<64>(); }
stream::Table stream::loops_128() { return table<128>(); }
