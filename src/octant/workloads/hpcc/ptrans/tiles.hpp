// The two loops over tiles, for each vector width; chosen at run time.
#pragma once

#include "kernels/transpose.hpp"

#include <cstddef>

namespace ptrans {

struct Loops {
    using Loop = void (*)(double* to, std::ptrdiff_t to_stride, double const* from, std::ptrdiff_t from_stride,
                          std::ptrdiff_t rows, std::ptrdiff_t columns);
    Loop transpose;  // octant::Transpose::tile
    Loop add;        // octant::Transpose::add
};

template <int bits>
Loops loops() {
    return {octant::Transpose<bits>::tile, octant::Transpose<bits>::add};
}

Loops scalar_loops();
Loops loops_128();
Loops loops_256();
Loops loops_512();

}  // namespace ptrans
