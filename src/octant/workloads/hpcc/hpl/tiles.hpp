// Transposition of blocks between row-major and column-major storage, for each vector width.
#pragma once

#include "kernels/transpose.hpp"

#include <cstddef>

namespace hpl {

// octant::Transpose::tile
using Transposition = void (*)(double* to, std::ptrdiff_t to_stride, double const* from, std::ptrdiff_t from_stride,
                               std::ptrdiff_t rows, std::ptrdiff_t columns);

Transposition transposition_128();
Transposition transposition_256();
Transposition transposition_512();

}  // namespace hpl
