// Compiled for AVX-512; called only where the processor has it.
#include "kernels/fft/lanes.hpp"

namespace octant::fft {

template <>
PassesOf<double> passes_512() {
    return passes<double, 8>();
}
template <>
PassesOf<float> passes_512() {
    return passes<float, 16>();
}

}  // namespace octant::fft
