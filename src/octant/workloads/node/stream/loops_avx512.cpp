// Compiled for AVX-512; called only where the processor has it.
#include "loops.hpp"

stream::Table stream::loops_512() { return table<512>(); }
