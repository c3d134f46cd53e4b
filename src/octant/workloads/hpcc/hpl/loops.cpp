#include "loops.hpp"

#include <algorithm>
#include <bit>

namespace hpl {
namespace {

constexpr std::int64_t strip = 512;  // rows whose numbers of one column stay in L1 while columns are subtracted
constexpr std::int64_t rows_at_once =
    16;  // of a block of columns that are prefetched while the previous ones are moved
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

// y -= l y[-1], in four columns that are `leading` apart: `at` is the number before each.
void subtract_outer(std::int64_t rows, double const* l, double* at, std::int64_t leading) {
    double *const a = at + 1, *const b = a + leading, *const c = b + leading, *const d = c + leading;
    double const p = a[-1], q = b[-1], r = c[-1], s = d[-1];
#pragma omp simd
    for (std::int64_t i = 0; i < rows; ++i) {
        a[i] -= l[i] * p;
        b[i] -= l[i] * q;
        c[i] -= l[i] * r;
        d[i] -= l[i] * s;
    }
}

// Prefetches rows [begin, end) of a block of columns into the L2 cache: they are too short for the hardware prefetcher.
void prefetch_rows(std::int64_t begin, std::int64_t end, std::int64_t columns, double const* rows,
                   std::int64_t leading) {
    for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t i = 0; i < columns; i += 8) __builtin_prefetch(rows + row * leading + i, 0, 2);
}

// For positive numbers, the order of the bits is that of the values.
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

// Four rows at a time: memory gives several streams sooner than one.
void subtract_products(std::int64_t rows, std::int64_t count, double const* a, std::int64_t leading, double const* x,
                       double* y) {
    std::int64_t row = 0;
    for (; row + 4 <= rows; row += 4) {
        double const *const p = a + row * leading, *const q = p + leading, *const r = q + leading,
                            *const s = r + leading;
        double first = 0, second = 0, third = 0, fourth = 0;
#pragma omp simd reduction(+ : first, second, third, fourth)
        for (std::int64_t i = 0; i < count; ++i) {
            first += p[i] * x[i];
            second += q[i] * x[i];
            third += r[i] * x[i];
            fourth += s[i] * x[i];
        }
        y[row] -= first, y[row + 1] -= second, y[row + 2] -= third, y[row + 3] -= fourth;
    }
    for (; row < rows; ++row) y[row] -= dot(count, a + row * leading, x);
}

// Four columns of the inverse at a time, so that L is read a quarter as often.
void invert_unit_lower(std::int64_t n, double const* l, double* inverse) {
    std::fill_n(inverse, n * n, 0.0);
    for (std::int64_t first = 0; first < n; first += 4) {
        std::int64_t const columns = std::min<std::int64_t>(4, n - first);
        double* const x = inverse + first * n;
        for (std::int64_t c = 0; c < columns; ++c) x[first + c + c * n] = 1;
        for (std::int64_t k = first; k < n; ++k) {
            double const* const column = l + k * n;
            if (columns == 4)
                subtract_outer(n - k - 1, column + k + 1, x + k, n);
            else
                for (std::int64_t c = 0; c < columns; ++c)
                    subtract_one(n - k - 1, column + k + 1, x[k + c * n], x + k + 1 + c * n);
        }
    }
}

void to_columns(Transposition transpose, std::int64_t rows, std::int64_t columns, double const* from,
                std::int64_t leading_row, double* to, std::int64_t leading_column) {
    for (std::int64_t first = 0; first < rows; first += rows_at_once) {
        std::int64_t const here = std::min(rows_at_once, rows - first);
        prefetch_rows(std::min(rows, first + rows_at_once), std::min(rows, first + 2 * rows_at_once), columns, from,
                      leading_row);
        transpose(to + first, leading_column, from + first * leading_row, leading_row, columns, here);
    }
}

void to_rows(Transposition transpose, std::int64_t rows, std::int64_t columns, double const* from,
             std::int64_t leading_column, double* to, std::int64_t leading_row) {
    for (std::int64_t first = 0; first < rows; first += rows_at_once) {
        std::int64_t const here = std::min(rows_at_once, rows - first);
        prefetch_rows(std::min(rows, first + rows_at_once), std::min(rows, first + 2 * rows_at_once), columns, to,
                      leading_row);
        transpose(to + first * leading_row, leading_row, from + first, leading_column, here, columns);
    }
}

}  // namespace hpl
