// A BLAS library, loaded while the program runs: whoever speaks CBLAS with 32-bit integers will do.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gemm {

enum Order { row_major = 101 };
enum Transpose { as_is = 111 };
using Dgemm = void (*)(int order, int ta, int tb, int m, int n, int k, double alpha, double const* a, int lda,
                       double const* b, int ldb, double beta, double* c, int ldc);
using Sgemm = void (*)(int order, int ta, int tb, int m, int n, int k, float alpha, float const* a, int lda,
                       float const* b, int ldb, float beta, float* c, int ldc);

struct Library {
    Dgemm dgemm = nullptr;
    Sgemm sgemm = nullptr;
    std::vector<std::pair<std::string, std::string>> facts;  // path, version, processor kernel, threads
};

// `name`: "plain" (our own oracle), "openblas" (the file that the environment variable OCTANT_BLAS names), or a path.
// Throws octant::Refusal: not found, not CBLAS, or it does not take the number of threads.
[[nodiscard]] Library load(std::string const& name, int threads);

}  // namespace gemm
