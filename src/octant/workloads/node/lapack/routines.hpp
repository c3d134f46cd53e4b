// Factorisations: matrix, LAPACK function, operation count, and check of the result.
#pragma once

#include "blas/blas.hpp"
#include "matrix.hpp"
#include "octant/info.hpp"

#include <cstdint>
#include <vector>

namespace lapack {

inline constexpr double bound = 30;  // of errors, in units of the order times the relative precision

// Each has: the name of its function; `flops(n)`; `work(n)`, the numbers of work space whose count LAPACK takes as an
// integer, and `more(n)`, all memory in addition to two matrices, if it grows with n²; a constructor that takes its
// work space; `fill`, the matrix; `run`, which overwrites it and returns the status of the library (0: success);
// `check`, of the result against the original matrix; `spoil`, which falsifies the input of one of these checks.

struct SmallWork {  // of a few columns
    static constexpr std::int64_t work(std::int64_t) { return 0; }
    static constexpr std::int64_t more(std::int64_t) { return 0; }
};

class Lu : public SmallWork {
  public:
    static constexpr char const* function = "dgetrf_";
    static constexpr bool counts_all = true;
    static std::int64_t flops(std::int64_t n) { return 2 * n * n * n / 3; }
    Lu(octant::blas::Library const& library, std::size_t n);
    static void fill(Matrix a);
    std::int64_t run(Matrix a);
    octant::Results check(Matrix before, Matrix after);
    static void spoil(std::size_t check, Matrix after);

  private:
    using Call = void (*)(void const*, void const*, double*, void const*, void*, void*);
    Call call_;
    bool wide_;
    std::vector<std::int64_t> pivots_;  // in 32 or 64 bits
};

class Cholesky : public SmallWork {
  public:
    static constexpr char const* function = "dpotrf_";
    static constexpr bool counts_all = true;
    static std::int64_t flops(std::int64_t n) { return n * n * n / 3; }
    Cholesky(octant::blas::Library const& library, std::size_t n);
    static void fill(Matrix a);
    std::int64_t run(Matrix a);
    static octant::Results check(Matrix before, Matrix after);
    static void spoil(std::size_t check, Matrix after);

  private:
    using Call = void (*)(char const*, void const*, double*, void const*, void*, std::size_t);
    Call call_;
    bool wide_;
};

class Qr : public SmallWork {
  public:
    static constexpr char const* function = "dgeqrf_";
    static constexpr bool counts_all = true;
    static std::int64_t flops(std::int64_t n) { return 4 * n * n * n / 3; }
    Qr(octant::blas::Library const& library, std::size_t n);
    static void fill(Matrix a) { Lu::fill(a); }
    std::int64_t run(Matrix a);
    octant::Results check(Matrix before, Matrix after);
    void spoil(std::size_t check, Matrix after);

  private:
    using Call = void (*)(void const*, void const*, double*, void const*, double*, double*, void const*, void*);
    std::int64_t ask(Matrix a, double* work, std::int64_t length);
    Call call_;
    bool wide_;
    Vector factors_, work_;
};

// Eigenvalues of a symmetric matrix with the eigenvalues 1 … n, with or without eigenvectors.
class Eigen {
  public:
    static constexpr char const* function = "dsyevd_";
    Eigen(octant::blas::Library const& library, std::size_t n, bool vectors);
    static void fill(Matrix a);
    std::int64_t run(Matrix a);
    octant::Results check(Matrix before, Matrix after);
    void spoil(std::size_t check, Matrix after);

  private:
    using Call = void (*)(char const*, char const*, void const*, double*, void const*, double*, double*, void const*,
                          void*, void const*, void*, std::size_t, std::size_t);
    std::int64_t ask(Matrix a, double* work, std::int64_t length, void* integers, std::int64_t integer_length);
    Call call_;
    bool wide_, vectors_;
    Vector values_, work_;
    std::vector<std::int64_t> integers_;
};

struct Eigenvalues : Eigen, SmallWork {
    static constexpr bool counts_all = true;
    static std::int64_t flops(std::int64_t n) { return 4 * n * n * n / 3; }
    Eigenvalues(octant::blas::Library const& library, std::size_t n) : Eigen(library, n, false) {}
};

struct Eigenvectors : Eigen {
    static constexpr std::int64_t work(std::int64_t n) { return 2 * n * n + 6 * n + 1; }
    static constexpr std::int64_t more(std::int64_t n) { return work(n); }
    static constexpr bool counts_all = false;  // a convention: by QR iterations it would take so many
    static std::int64_t flops(std::int64_t n) { return 9 * n * n * n; }
    Eigenvectors(octant::blas::Library const& library, std::size_t n) : Eigen(library, n, true) {}
};

// Singular value decomposition of a matrix with the singular values 1 … n.
class Svd {
  public:
    static constexpr char const* function = "dgesdd_";
    static constexpr bool counts_all = false;  // a convention, as of the eigenvectors
    static std::int64_t flops(std::int64_t n) { return 21 * n * n * n; }
    static constexpr std::int64_t work(std::int64_t n) { return 4 * n * n + 7 * n; }
    static constexpr std::int64_t more(std::int64_t n) { return work(n) + 2 * n * n; }  // with U and V'
    Svd(octant::blas::Library const& library, std::size_t n);
    static void fill(Matrix a);
    std::int64_t run(Matrix a);
    octant::Results check(Matrix before, Matrix after);
    void spoil(std::size_t check, Matrix after);

  private:
    using Call = void (*)(char const*, void const*, void const*, double*, void const*, double*, double*, void const*,
                          double*, void const*, double*, void const*, void*, void*, std::size_t);
    std::int64_t ask(Matrix a, double* work, std::int64_t length);
    Call call_;
    bool wide_;
    Vector values_, left_, right_, work_;
    std::vector<std::int64_t> integers_;
};

}  // namespace lapack
