// Scalar code: auto-vectorisation is disabled for this file.
#include "kernels/fft/lanes.hpp"

namespace octant::fft {

template <>
PassesOf<double> passes_scalar() {
    return passes<double, 1>();
}
template <>
PassesOf<float> passes_scalar() {
    return passes<float, 1>();
}

}  // namespace octant::fft
