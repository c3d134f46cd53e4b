// The loops of the panel factorisation and of the triangular solution, on contiguous numbers.
#pragma once

#include "tiles.hpp"

#include <cstdint>

namespace hpl {

struct Largest {
    std::int64_t place = -1;  // -1: there are no numbers
    double value = 0;         // its magnitude
};

// y -= u[0] l + u[1] (l + leading) + …, and the first of the numbers of largest magnitude that this leaves; a NaN is
// larger than any number.
Largest eliminate(std::int64_t rows, int columns, double const* l, std::int64_t leading, double const* u, double* y);
void scale(std::int64_t rows, double factor, double* y);
[[nodiscard]] double dot(std::int64_t count, double const* x, double const* y);
// y -= A x, rows of A `leading` from each to the next.
void subtract_products(std::int64_t rows, std::int64_t count, double const* a, std::int64_t leading, double const* x,
                       double* y);
// Inverse of a unit lower triangular matrix; both are n x n, column-major.
void invert_unit_lower(std::int64_t n, double const* l, double* inverse);
// Transposes between row-major and column-major storage; `leading…` is the distance between rows or columns.
void to_columns(Transposition transpose, std::int64_t rows, std::int64_t columns, double const* from,
                std::int64_t leading_row, double* to, std::int64_t leading_column);
void to_rows(Transposition transpose, std::int64_t rows, std::int64_t columns, double const* from,
             std::int64_t leading_column, double* to, std::int64_t leading_row);

}  // namespace hpl
