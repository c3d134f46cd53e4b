// A BLAS library, loaded while the program runs: whoever speaks CBLAS with 32-bit integers will do.
#pragma once

#include "octant/mpi.hpp"

#include <string>
#include <utility>
#include <vector>

namespace octant::blas {

enum Order { row_major = 101, column_major = 102 };
enum Transpose { as_is = 111, transposed = 112 };
enum Triangle { upper = 121, lower = 122 };
enum Diagonal { any_diagonal = 131, unit_diagonal = 132 };
enum Side { left = 141, right = 142 };

using Dgemm = void (*)(int order, int ta, int tb, int m, int n, int k, double alpha, double const* a, int lda,
                       double const* b, int ldb, double beta, double* c, int ldc);
using Sgemm = void (*)(int order, int ta, int tb, int m, int n, int k, float alpha, float const* a, int lda,
                       float const* b, int ldb, float beta, float* c, int ldc);
using Dtrsm = void (*)(int order, int side, int triangle, int transpose, int diagonal, int m, int n, double alpha,
                       double const* a, int lda, double* b, int ldb);

struct Library {
    Dgemm dgemm = nullptr;
    Sgemm sgemm = nullptr;
    Dtrsm dtrsm = nullptr;
    std::vector<std::pair<std::string, std::string>> facts;  // path, version, processor kernel
};

struct Named {
    std::string name, path;
};

// What the environment variable OCTANT_BLAS names: NAME=PATH, joined by colons; a path alone has the name openblas.
[[nodiscard]] std::vector<Named> available();

// `name`: "plain" (loops of our own, the oracle), a name of `available()`, or a path. Throws octant::Refusal: not
// found, not CBLAS, it does not take the number of threads, or a small product is wrong (64-bit integers).
[[nodiscard]] Library load(std::string const& name, int threads);

// The same, collectively over `group`, with one name more: "auto" is the library of `available()` that multiplies two
// small matrices fastest on the group's first rank, which loads all of them. Those that cannot be used are passed over.
// The facts name the rates. Throws Refusal on all ranks, also of what one of them alone lacks.
[[nodiscard]] Library load(Comm const& group, std::string const& name, int threads);

}  // namespace octant::blas
