// For every processor of this architecture: 128 bits (SSE2, NEON, VSX).
#include "kernels/fft/lanes.hpp"

namespace octant::fft {

template <>
PassesOf<double> passes_128() {
    return passes<double, 2>();
}
template <>
PassesOf<float> passes_128() {
    return passes<float, 4>();
}

}  // namespace octant::fft
