// Compiled for AVX-512; called only where the processor has it.
#include "tiles.hpp"

ptrans::Loops ptrans::loops_512() { return loops<512>(); }
