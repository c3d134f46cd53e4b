// Checks of C = alpha op(A) op(B) + beta C0 in n^2 operations, for real and complex numbers in either precision.
#pragma once

#include "kernels/random.hpp"
#include "kernels/worst.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace octant {

template <class T>
struct RealOf {
    using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
    using type = T;
};

// A number of a stream, with all bits in use.
template <class T>
[[nodiscard]] T number_at(std::uint64_t i, std::uint64_t stream) noexcept {
    using Real = typename RealOf<T>::type;
    if constexpr (std::is_same_v<T, Real>)
        return static_cast<Real>(random_at(i, stream));
    else
        return T(static_cast<Real>(random_at(2 * i, stream)), static_cast<Real>(random_at(2 * i + 1, stream)));
}

// A matrix as it takes part in a product: as it lies (row by row), transposed ('t'), or conjugated too ('c').
template <class T>
struct Operand {
    T const* data;
    std::size_t leading;
    char op = 'n';

    [[nodiscard]] std::complex<double> at(std::size_t i, std::size_t j) const noexcept {
        std::complex<double> const value(data[op == 'n' ? i * leading + j : j * leading + i]);
        return op == 'c' ? std::conj(value) : value;
    }
};

template <class T>
struct Product {
    std::size_t n;
    Operand<T> a, b, c;
    std::complex<double> alpha = 1, beta = 0;
    std::uint64_t start = 0;  // the stream that C0 is made of anew, element by element without the space between rows

    [[nodiscard]] std::complex<double> kept(std::size_t i, std::size_t j) const noexcept {
        return beta * std::complex<double>(number_at<T>(i * n + j, start));
    }
    static constexpr double unit = std::numeric_limits<typename RealOf<T>::type>::epsilon() / 2;
    static constexpr double parts = std::is_same_v<T, typename RealOf<T>::type> ? 1 : 2;
};

namespace product_check {

constexpr double lambda = 6;
constexpr std::size_t max_groups = 32;  // each comparison covers few columns, and its bound stays sharp

// By hand: the operator of std::complex looks for infinities.
inline std::complex<double> times(std::complex<double> x, std::complex<double> y) noexcept {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

// One of 1 and -1, or of the four units.
inline std::complex<double> sign_at(std::size_t j, bool complex) noexcept {
    std::uint64_t const bits = mixed((j + 1) * golden_step);
    double const one = (bits & 1U) != 0 ? 1 : -1;
    return complex && (bits & 2U) != 0 ? std::complex<double>(0, one) : std::complex<double>(one, 0);
}

}  // namespace product_check

// Freivalds' check, for groups of columns: for random signs x, C x must equal alpha A (B x) + beta C0 x. Returns the
// largest difference in units of what rounding makes of it, but with a probability below 10^-7.
//
// The operands are independent random numbers with mean 0. So partial sums of k products are below lambda sqrt(k) times
// the size of one, and the sum of their n independent roundings below lambda^2 u |a| |b| / sqrt(2), without the root of
// n that operands of one sign have; a sum with random signs is below lambda times the root of the sum of squares. The
// check itself rounds twice in double precision.
template <class T>
[[nodiscard]] double freivalds(Product<T> const& product) {
    using namespace product_check;
    std::size_t const n = product.n, width = (n + max_groups - 1) / max_groups, groups = (n + width - 1) / width;
    double const unit = product.unit + std::numeric_limits<double>::epsilon();
    std::vector<std::complex<double>> image(n * groups), sums(groups);
    std::vector<double> squares(groups, 0.0), kept(groups);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            auto const value = product.b.at(i, j);
            image[i * groups + j / width] += times(value, sign_at(j, product.parts > 1));
            squares[j / width] += std::norm(value);
        }
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::ranges::fill(sums, std::complex<double>());
        std::ranges::fill(kept, 0.0);
        double norm = 0;
        for (std::size_t k = 0; k < n; ++k) {
            auto const value = times(product.alpha, product.a.at(i, k));
            norm += std::norm(value);
            for (std::size_t g = 0; g < groups; ++g) sums[g] += times(value, image[k * groups + g]);
        }
        for (std::size_t j = 0; j < n; ++j) {
            auto const start = product.beta == 0.0 ? std::complex<double>() : product.kept(i, j);
            sums[j / width] += times(start - product.c.at(i, j), sign_at(j, product.parts > 1));
            kept[j / width] += std::norm(start);
        }
        for (std::size_t g = 0; g < groups; ++g) {
            double const size = std::sqrt(norm * squares[g]) + std::sqrt(kept[g]);
            keep_worst(worst, std::abs(sums[g]) / (lambda * lambda * product.parts * unit * size));
        }
    }
    return worst;
}

// HPC Challenge's residual: |beta C0 x + alpha A (B x) - C x| over |C| |x| n u, largest row sums and largest numbers.
// Its numbers are mostly the same in A and B; where each has its own, an operand that is read transposed is seen.
template <class T>
[[nodiscard]] double hpcc_residual(Product<T> const& product, std::uint64_t stream_of_x) {
    using product_check::times;
    std::size_t const n = product.n;
    std::vector<std::complex<double>> x(n), image(n);
    double largest = 0, difference = 0, norm = 0;
    for (std::size_t j = 0; j < n; ++j) {
        x[j] = number_at<T>(j, stream_of_x);
        largest = std::max(largest, std::abs(x[j]));
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) image[i] += times(product.b.at(i, j), x[j]);
    for (std::size_t i = 0; i < n; ++i) {
        std::complex<double> product_of_row, sum;
        double magnitudes = 0;
        for (std::size_t j = 0; j < n; ++j) {
            auto const got = product.c.at(i, j);
            product_of_row += times(product.a.at(i, j), image[j]);
            sum += times(product.kept(i, j) - got, x[j]);
            magnitudes += std::abs(got);
        }
        keep_worst(difference, std::abs(sum + times(product.alpha, product_of_row)));
        norm = std::max(norm, magnitudes);
    }
    return difference / (norm * largest * static_cast<double>(n) * product.unit);
}

}  // namespace octant
