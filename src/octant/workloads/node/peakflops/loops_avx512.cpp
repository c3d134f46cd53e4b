// Compiled for AVX-512; called only where the processor has it.
#include "loops.hpp"

peakflops::Loops peakflops::loops_512() { return loops<512>(); }
