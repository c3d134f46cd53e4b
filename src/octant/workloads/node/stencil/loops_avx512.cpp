// Compiled for AVX-512; called only where the processor has it.
#include "loops.hpp"

template <>
stencil::Table<float> stencil::loops_512() {
    return table<float, 512>();
}
template <>
stencil::Table<double> stencil::loops_512() {
    return table<double, 512>();
}
