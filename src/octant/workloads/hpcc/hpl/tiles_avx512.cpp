// Compiled for AVX-512; called only where the processor has it.
#include "tiles.hpp"

hpl::Transposition hpl::transposition_512() { return octant::Transpose<512>::tile; }
