#include "blas/plain.hpp"

#include <complex>
#include <cstddef>
#include <utility>

namespace octant::blas::plain {
namespace {

struct Steps {  // from one row, and from one column, to the next
    std::ptrdiff_t row, column;
    [[nodiscard]] std::ptrdiff_t at(std::ptrdiff_t i, std::ptrdiff_t j) const { return i * row + j * column; }
};

Steps steps(int order, int transpose, int leading) {
    Steps found = order == row_major ? Steps{leading, 1} : Steps{1, leading};
    if (transpose != as_is) std::swap(found.row, found.column);
    return found;
}

template <class T>
T value_of(Factor<T> factor) {
    if constexpr (is_complex<T>)
        return *factor;
    else
        return factor;
}

// Written out: the operator of std::complex tests for infinities, which takes most of the time.
template <class T>
void add_product(T& sum, T const& x, T const& y) {
    if constexpr (is_complex<T>)
        sum += T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
    else
        sum += x * y;
}

template <class T>
T conjugate_if(bool asked, T const& value) {
    if constexpr (is_complex<T>)
        return asked ? std::conj(value) : value;
    else
        return value;
}

}  // namespace

// The loops are ordered so that all accesses are contiguous where the order is row-major and nothing is transposed.
template <class T>
void gemm(int order, int ta, int tb, int m, int n, int k, Factor<T> alpha, T const* a, int lda, T const* b, int ldb,
          Factor<T> beta, T* c, int ldc) {
    T const scale = value_of<T>(alpha), keep = value_of<T>(beta);
    Steps const of_a = steps(order, ta, lda), of_b = steps(order, tb, ldb), of_c = steps(order, as_is, ldc);
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        for (std::ptrdiff_t j = 0; j < n; ++j) {
            T& value = c[of_c.at(i, j)];
            value = keep == T{} ? T{} : keep * value;
        }
        for (std::ptrdiff_t l = 0; l < k; ++l) {
            T const left_factor = scale * conjugate_if(ta == conjugate_transposed, a[of_a.at(i, l)]);
            for (std::ptrdiff_t j = 0; j < n; ++j)
                add_product(c[of_c.at(i, j)], left_factor, conjugate_if(tb == conjugate_transposed, b[of_b.at(l, j)]));
        }
    }
}

template void gemm<float>(int, int, int, int, int, int, float, float const*, int, float const*, int, float, float*,
                          int);
template void gemm<double>(int, int, int, int, int, int, double, double const*, int, double const*, int, double,
                           double*, int);
template void gemm<std::complex<float>>(int, int, int, int, int, int, std::complex<float> const*,
                                        std::complex<float> const*, int, std::complex<float> const*, int,
                                        std::complex<float> const*, std::complex<float>*, int);
template void gemm<std::complex<double>>(int, int, int, int, int, int, std::complex<double> const*,
                                         std::complex<double> const*, int, std::complex<double> const*, int,
                                         std::complex<double> const*, std::complex<double>*, int);

// From the right, the system is that of the transposed matrices from the left.
void dtrsm(int order, int side, int triangle, int transpose, int diagonal, int m, int n, double alpha, double const* a,
           int lda, double* b, int ldb) {
    Steps of_a = steps(order, transpose, lda), of_b = steps(order, as_is, ldb);
    bool forwards = (triangle == lower) != (transpose == transposed);
    if (side == right) {
        std::swap(of_a.row, of_a.column);
        std::swap(of_b.row, of_b.column);
        std::swap(m, n);
        forwards = !forwards;
    }
    for (std::ptrdiff_t i = 0; i < m; ++i)
        for (std::ptrdiff_t j = 0; j < n; ++j) b[of_b.at(i, j)] *= alpha;
    for (std::ptrdiff_t done = 0; done < m; ++done) {
        std::ptrdiff_t const i = forwards ? done : m - 1 - done;
        if (diagonal == any_diagonal)
            for (std::ptrdiff_t j = 0; j < n; ++j) b[of_b.at(i, j)] /= a[of_a.at(i, i)];
        for (std::ptrdiff_t left_over = done + 1; left_over < m; ++left_over) {
            std::ptrdiff_t const row = forwards ? left_over : m - 1 - left_over;
            for (std::ptrdiff_t j = 0; j < n; ++j) b[of_b.at(row, j)] -= a[of_a.at(row, i)] * b[of_b.at(i, j)];
        }
    }
}

}  // namespace octant::blas::plain
