// Compiled for AVX2; called only where the processor has it.
#include "tiles.hpp"

hpl::Transposition hpl::transposition_256() { return octant::Transpose<256>::tile; }
