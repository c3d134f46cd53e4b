// Compiled for AVX2; called only where the processor has it.
#include "loops.hpp"

stream::Table stream::loops_256() { return table<256>(); }
