// The oracle: the definitions of the products, in loops of our own, with the signatures of CBLAS.
#pragma once

#include "blas/calls.hpp"

namespace octant::blas::plain {

template <class T>
void gemm(int order, int ta, int tb, int m, int n, int k, Factor<T> alpha, T const* a, int lda, T const* b, int ldb,
          Factor<T> beta, T* c, int ldc);
void dtrsm(int order, int side, int triangle, int transpose, int diagonal, int m, int n, double alpha, double const* a,
           int lda, double* b, int ldb);

}  // namespace octant::blas::plain
