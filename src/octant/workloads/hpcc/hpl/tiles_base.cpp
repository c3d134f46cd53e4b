// For every processor of this architecture.
#include "tiles.hpp"

hpl::Transposition hpl::transposition_128() { return octant::Transpose<128>::tile; }
