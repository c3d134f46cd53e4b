// Compiled for AVX2 and FMA; called only where the processor has them.
#include "loops.hpp"

core::Floating core::floating_256() { return floating<256>(); }
