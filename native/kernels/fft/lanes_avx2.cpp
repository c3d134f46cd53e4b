// Compiled for AVX2 and FMA; called only where the processor has them.
#include "kernels/fft/lanes.hpp"

namespace octant::fft {

template <>
PassesOf<double> passes_256() {
    return passes<double, 4>();
}
template <>
PassesOf<float> passes_256() {
    return passes<float, 8>();
}

}  // namespace octant::fft
