// Compiled for AVX2 and FMA; called only where the processor has them.
#include "loops.hpp"

peakflops::Loops peakflops::loops_256() { return loops<256>(); }
