// Compiled for AVX-512; called only where the processor has it.
#include "loops.hpp"

core::Floating core::floating_512() { return floating<512>(); }
