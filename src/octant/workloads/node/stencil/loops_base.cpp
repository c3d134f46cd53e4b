// For every processor of this architecture: 128 bits (SSE2, NEON, VSX).
#include "loops.hpp"

template <>
stencil::Table<float> stencil::loops_128() {
    return table<float, 128>();
}
template <>
stencil::Table<double> stencil::loops_128() {
    return table<double, 128>();
}
