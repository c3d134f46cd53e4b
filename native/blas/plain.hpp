// The oracle: the definitions of the products, in loops of our own.
#pragma once

namespace octant::blas::plain {

void dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, double const* a, int lda, double const* b,
           int ldb, double beta, double* c, int ldc);
void sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, float const* a, int lda, float const* b,
           int ldb, float beta, float* c, int ldc);
void dtrsm(int order, int side, int triangle, int transpose, int diagonal, int m, int n, double alpha, double const* a,
           int lda, double* b, int ldb);

}  // namespace octant::blas::plain
