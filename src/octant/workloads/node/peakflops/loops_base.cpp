// For every processor of this architecture: one element at a time, and 128 bits (SSE2, NEON, VSX).
#include "loops.hpp"

peakflops::Loops peakflops::scalar_loops() { return {set<double, 64>(), set<float, 32>(), 0, chains<64>, fused_here}; }
peakflops::Loops peakflops::loops_128() { return loops<128>(); }
