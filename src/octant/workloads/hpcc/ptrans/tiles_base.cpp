// For every processor of this architecture: one element at a time, and 128 bits (SSE2, NEON, VSX).
#include "tiles.hpp"

ptrans::Loops ptrans::scalar_loops() { return loops<64>(); }
ptrans::Loops ptrans::loops_128() { return loops<128>(); }
