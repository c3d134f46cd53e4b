// Compiled for AVX2 and FMA; called only where the processor has them.
#include "loops.hpp"

template <>
stencil::Table<float> stencil::loops_256() {
    return table<float, 256>();
}
template <>
stencil::Table<double> stencil::loops_256() {
    return table<double, 256>();
}
