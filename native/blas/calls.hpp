// Functions of a BLAS library behind one signature each, whatever interface and width of integers it has.
#pragma once

#include "blas/symbols.hpp"

#include <complex>
#include <type_traits>
#include <utility>

namespace octant::blas {

enum Order { row_major = 101, column_major = 102 };
enum Transpose { as_is = 111, transposed = 112, conjugate_transposed = 113 };
enum Triangle { upper = 121, lower = 122 };
enum Diagonal { any_diagonal = 131, unit_diagonal = 132 };
enum Side { left = 141, right = 142 };

template <class T>
inline constexpr bool is_complex = !std::is_arithmetic_v<T>;
// CBLAS takes a real factor by value, and a complex one by its address.
template <class T>
using Factor = std::conditional_t<is_complex<T>, T const*, T>;

template <class T>
[[nodiscard]] Factor<T> factor(T const& value) {
    if constexpr (is_complex<T>)
        return &value;
    else
        return value;
}

template <class T>
struct Gemm {  // C = alpha op(A) op(B) + beta C
    template <class Int>
    using Cblas = void (*)(int order, int ta, int tb, Int m, Int n, Int k, Factor<T> alpha, T const* a, Int lda,
                           T const* b, Int ldb, Factor<T> beta, T* c, Int ldc);
    using Fortran = void (*)(char const* ta, char const* tb, void const* m, void const* n, void const* k,
                             T const* alpha, T const* a, void const* lda, T const* b, void const* ldb, T const* beta,
                             T* c, void const* ldc, std::size_t length_of_ta, std::size_t length_of_tb);

    Cblas<int> narrow = nullptr;
    Cblas<std::int64_t> wide = nullptr;
    Fortran fortran = nullptr;  // where there is no CBLAS
    bool wide_fortran = false;

    [[nodiscard]] explicit operator bool() const noexcept { return narrow || wide || fortran; }
    void operator()(int order, int ta, int tb, int m, int n, int k, T alpha, T const* a, int lda, T const* b, int ldb,
                    T beta, T* c, int ldc) const {
        if (narrow)
            narrow(order, ta, tb, m, n, k, factor(alpha), a, lda, b, ldb, factor(beta), c, ldc);
        else if (wide)
            wide(order, ta, tb, m, n, k, factor(alpha), a, lda, b, ldb, factor(beta), c, ldc);
        else if (order == column_major)
            call(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        else  // the transposed product: what is a row to us is a column to Fortran
            call(tb, ta, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
    }

  private:
    void call(int ta, int tb, int m, int n, int k, T alpha, T const* a, int lda, T const* b, int ldb, T beta, T* c,
              int ldc) const {
        auto const letter = [](int how) { return how == as_is ? 'N' : how == transposed ? 'T' : 'C'; };
        auto const integer = [this](int value) { return Integer(value, wide_fortran); };
        char const trans_a = letter(ta), trans_b = letter(tb);
        Integer rows = integer(m), columns = integer(n), inner = integer(k);
        Integer of_a = integer(lda), of_b = integer(ldb), of_c = integer(ldc);
        fortran(&trans_a, &trans_b, rows.address(), columns.address(), inner.address(), &alpha, a, of_a.address(), b,
                of_b.address(), &beta, c, of_c.address(), 1, 1);
    }
};

struct Dtrsm {  // B = alpha op(A)^-1 B, or with A on the right
    template <class Int>
    using Cblas = void (*)(int order, int side, int triangle, int transpose, int diagonal, Int m, Int n, double alpha,
                           double const* a, Int lda, double* b, Int ldb);
    using Fortran = void (*)(char const* side, char const* triangle, char const* transpose, char const* diagonal,
                             void const* m, void const* n, double const* alpha, double const* a, void const* lda,
                             double* b, void const* ldb, std::size_t, std::size_t, std::size_t, std::size_t);

    Cblas<int> narrow = nullptr;
    Cblas<std::int64_t> wide = nullptr;
    Fortran fortran = nullptr;
    bool wide_fortran = false;

    [[nodiscard]] explicit operator bool() const noexcept { return narrow || wide || fortran; }
    void operator()(int order, int side, int triangle, int transpose, int diagonal, int m, int n, double alpha,
                    double const* a, int lda, double* b, int ldb) const {
        if (narrow) return narrow(order, side, triangle, transpose, diagonal, m, n, alpha, a, lda, b, ldb);
        if (wide) return wide(order, side, triangle, transpose, diagonal, m, n, alpha, a, lda, b, ldb);
        bool const flipped = order == row_major;
        if (flipped) std::swap(m, n);
        char const at = (side == left) != flipped ? 'L' : 'R', half = (triangle == upper) != flipped ? 'U' : 'L';
        char const how = transpose == as_is ? 'N' : 'T', unit = diagonal == unit_diagonal ? 'U' : 'N';
        Integer rows(m, wide_fortran), columns(n, wide_fortran), of_a(lda, wide_fortran), of_b(ldb, wide_fortran);
        fortran(&at, &half, &how, &unit, rows.address(), columns.address(), &alpha, a, of_a.address(), b,
                of_b.address(), 1, 1, 1, 1);
    }
};

}  // namespace octant::blas
