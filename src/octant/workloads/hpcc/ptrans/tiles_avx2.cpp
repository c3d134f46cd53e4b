// Compiled for AVX2; called only where the processor has it.
#include "tiles.hpp"

ptrans::Loops ptrans::loops_256() { return loops<256>(); }
