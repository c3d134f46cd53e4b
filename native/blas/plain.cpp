#include "blas/plain.hpp"

#include "blas/blas.hpp"

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
    if (transpose == transposed) std::swap(found.row, found.column);
    return found;
}

// The loops are ordered so that all accesses are contiguous where the order is row-major and nothing is transposed.
template <class Real>
void multiply(int order, int ta, int tb, int m, int n, int k, Real alpha, Real const* a, int lda, Real const* b,
              int ldb, Real beta, Real* c, int ldc) {
    Steps const of_a = steps(order, ta, lda), of_b = steps(order, tb, ldb), of_c = steps(order, as_is, ldc);
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        for (std::ptrdiff_t j = 0; j < n; ++j) {
            Real& value = c[of_c.at(i, j)];
            value = beta == 0 ? 0 : beta * value;
        }
        for (std::ptrdiff_t l = 0; l < k; ++l)
            for (std::ptrdiff_t j = 0; j < n; ++j) c[of_c.at(i, j)] += alpha * a[of_a.at(i, l)] * b[of_b.at(l, j)];
    }
}

}  // namespace

void dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, double const* a, int lda, double const* b,
           int ldb, double beta, double* c, int ldc) {
    multiply<double>(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, float const* a, int lda, float const* b,
           int ldb, float beta, float* c, int ldc) {
    multiply<float>(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

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
