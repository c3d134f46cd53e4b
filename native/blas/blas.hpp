// A BLAS library, loaded while the program runs: CBLAS or Fortran's interface, integers of 32 or of 64 bits.
#pragma once

#include "blas/calls.hpp"
#include "blas/isa.hpp"
#include "octant/mpi.hpp"

#include <complex>
#include <string>
#include <utility>
#include <vector>

namespace octant::blas {

struct Library {
    Gemm<double> dgemm;
    Gemm<float> sgemm;
    Dtrsm dtrsm;
    std::vector<std::pair<std::string, std::string>> facts;  // path, version, processor kernel, width of integers
    Gemm<std::complex<double>> zgemm = {};
    Gemm<std::complex<float>> cgemm = {};
    Symbols symbols = {};  // of the loops of our own: none
    bool wide = false;     // its integers have 64 bits

    template <class T>
    [[nodiscard]] Gemm<T> const& gemm() const {
        if constexpr (std::is_same_v<T, double>) return dgemm;
        if constexpr (std::is_same_v<T, float>) return sgemm;
        if constexpr (std::is_same_v<T, std::complex<double>>) return zgemm;
        if constexpr (std::is_same_v<T, std::complex<float>>) return cgemm;
    }
};

struct Named {
    std::string name, path;
};

// The value of the environment variable: NAME=PATH, separated by colons; a path alone has the name openblas.
[[nodiscard]] std::vector<Named> available(char const* variable = "OCTANT_BLAS");

// `name`: "plain" (loops of our own, the oracle), a name of `available()`, or a path. `isa`: of `instruction_sets()`;
// it takes effect where the process has not loaded the library before. Throws octant::Refusal: not found, no BLAS, it
// does not take the number of threads or the instructions, or a small product is wrong.
[[nodiscard]] Library load(std::string const& name, int threads, std::string const& isa = "native");

// The same, collectively over `group`, with one name more: "auto" is the library of `available()` that multiplies two
// small matrices fastest on the group's first rank, which loads all of them. Those that cannot be used are passed over.
// The facts contain the rates. Throws Refusal on all ranks if one rank cannot use the library.
[[nodiscard]] Library load(Comm const& group, std::string const& name, int threads, std::string const& isa = "native");

}  // namespace octant::blas
