#include "loops.hpp"

#include <algorithm>
#include <bit>

namespace hpl {
namespace {

constexpr std::int64_t strip = 512;  // rows whose numbers of one column stay in L1 while columns are subtracted
constexpr std::uint64_t magnitude = ~std::uint64_t{0} >> 1U;

void subtract_four(std::int64_t rows, double const* l, std::int64_t leading, double const* u, double* y) {
    double const *const a = l, *const b = l + leading, *const c = b + leading, *const d = c + leading;
    double const p = u[0], q = u[1], r = u[2], s = u[3];
#pragma omp simd
    for (std::int64_t i = 0; i < rows; ++i) y[i] = y[i] - p * a[i] - q * b[i] - r * c[i] - s * d[i];
}

void subtract_one(std::int64_t rows, double const* l, double u, double* y) {
#pragma omp simd
    for (std::int64_t i = 0; i < rows; ++i) y[i] -= u * l[i];
}

// Of positive numbers the larger one has the larger bits.
std::uint64_t largest_bits(std::int64_t rows, double const* y) {
    std::uint64_t largest = 0;
#pragma omp simd reduction(max : largest)
    for (std::int64_t i = 0; i < rows; ++i) {
        std::uint64_t const bits = std::bit_cast<std::uint64_t>(y[i]) & magnitude;
        largest = bits > largest ? bits : largest;
    }
    return largest;
}

}  // namespace

Largest eliminate(std::int64_t rows, int columns, double const* l, std::int64_t leading, double const* u, double* y) {
    if (rows <= 0) return {};
    std::uint64_t largest = 0;
    std::int64_t in_strip = 0;
    for (std::int64_t first = 0; first < rows; first += strip) {
        std::int64_t const count = std::min(strip, rows - first);
        int column = 0;
        for (; column + 4 <= columns; column += 4)
            subtract_four(count, l + column * leading + first, leading, u + column, y + first);
        for (; column < columns; ++column) subtract_one(count, l + column * leading + first, u[column], y + first);
        std::uint64_t const here = largest_bits(count, y + first);
        if (here > largest) largest = here, in_strip = first;
    }
    std::int64_t place = in_strip;
    while ((std::bit_cast<std::uint64_t>(y[place]) & magnitude) != largest) ++place;
    return {place, std::bit_cast<double>(largest)};
}

void scale(std::int64_t rows, double factor, double* y) {
#pragma omp simd
    for (std::int64_t i = 0; i < rows; ++i) y[i] *= factor;
}

double dot(std::int64_t count, double const* x, double const* y) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < count; ++i) sum += x[i] * y[i];
    return sum;
}

// Eight rows at a time: whole lines are written, and the rows stay in L1.
void to_columns(std::int64_t rows, std::int64_t columns, double const* from, std::int64_t leading_row, double* to,
                std::int64_t leading_column) {
    for (std::int64_t first = 0; first < rows; first += 8) {
        std::int64_t const count = std::min<std::int64_t>(8, rows - first);
        double const* const in = from + first * leading_row;
        for (std::int64_t c = 0; c < columns; ++c)
            for (std::int64_t r = 0; r < count; ++r) to[c * leading_column + first + r] = in[r * leading_row + c];
    }
}

void to_rows(std::int64_t rows, std::int64_t columns, double const* from, std::int64_t leading_column, double* to,
             std::int64_t leading_row) {
    for (std::int64_t first = 0; first < rows; first += 8) {
        std::int64_t const count = std::min<std::int64_t>(8, rows - first);
        double* const out = to + first * leading_row;
        for (std::int64_t c = 0; c < columns; ++c)
            for (std::int64_t r = 0; r < count; ++r) out[r * leading_row + c] = from[c * leading_column + first + r];
    }
}

}  // namespace hpl
