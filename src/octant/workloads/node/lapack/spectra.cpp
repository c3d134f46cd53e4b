// Eigenvalues and singular values of matrices that are made from known ones.
#include "routines.hpp"

#include <utility>

namespace lapack {
namespace {

using octant::blas::Integer;
using octant::blas::Library;

constexpr int reflections = 4;  // from each side, of the diagonal 1 … n
constexpr std::uint64_t stream_of_x = 10, stream_of_left = 20, stream_of_right = 40;

void fill_with_spectrum(Matrix a, bool symmetric) {
    std::fill_n(a.data, a.n * a.n, 0.0);
    for (std::size_t i = 0; i < a.n; ++i) a(i, i) = static_cast<double>(i + 1);
    for (std::uint64_t k = 0; k < reflections; ++k) {
        Vector const w = unit_vector(a.n, stream_of_left + k);
        reflect(a, w, symmetric ? w : unit_vector(a.n, stream_of_right + k));
    }
}

// Deviation from orthogonality: difference of V' V x from x.
double from_orthogonal(Matrix vectors) {
    Vector const x = random_vector(vectors.n, stream_of_x);
    return difference(times(vectors, times(vectors, x), Part::whole, true), x, 1);
}

double trace_of(Matrix m) {
    double sum = 0;
    for (std::size_t i = 0; i < m.n; ++i) sum += m(i, i);
    return sum;
}

double squares_of(double const* data, std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += data[i] * data[i];
    return sum;
}

double relative(double got, double expected, std::size_t n) {
    return std::abs(got - expected) /
           (std::abs(expected) * static_cast<double>(n) * std::numeric_limits<double>::epsilon());
}

Vector counting(std::size_t n, bool down) {
    Vector values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(down ? n - i : i + 1);
    return values;
}

}  // namespace

Eigen::Eigen(Library const& library, std::size_t n, bool vectors)
    : call_(library.symbols.find<Call>(function)), wide_(library.wide), vectors_(vectors), values_(n, 0.0) {
    double wanted = 0, matrix = 0;
    Integer integers(0, wide_);
    static_cast<void>(ask({&matrix, n}, &wanted, -1, integers.address(), -1));
    work_.assign(static_cast<std::size_t>(wanted), 0.0);
    integers_.assign(static_cast<std::size_t>(integers.value()), 0);
}

std::int64_t Eigen::ask(Matrix a, double* work, std::int64_t length, void* integers, std::int64_t integer_length) {
    Integer order(static_cast<std::int64_t>(a.n), wide_), space(length, wide_), more(integer_length, wide_),
        info(0, wide_);
    call_(vectors_ ? "V" : "N", "L", order.address(), a.data, order.address(), values_.data(), work, space.address(),
          integers, more.address(), info.address(), 1, 1);
    return info.value();
}

void Eigen::fill(Matrix a) { fill_with_spectrum(a, true); }

std::int64_t Eigen::run(Matrix a) {
    return ask(a, work_.data(), static_cast<std::int64_t>(work_.size()), integers_.data(),
               static_cast<std::int64_t>(integers_.size()));
}

octant::Results Eigen::check(Matrix before, Matrix after) {
    std::size_t const n = before.n;
    double sum = 0;
    for (double const value : values_) sum += value;
    double const sums = std::max(relative(sum, trace_of(before), n),
                                 relative(squares_of(values_.data(), n), squares_of(before.data, n * n), n));
    octant::Results found{{"difference of eigenvalues from 1 ... n over |A| n eps",
                           difference(values_, counting(n, false), static_cast<double>(n)), "1", bound},
                          {"difference of eigenvalue sums from trace and Frobenius norm over n eps", sums, "1", bound}};
    if (!vectors_) return found;
    Vector const x = random_vector(n, stream_of_x);
    Vector scaled = x;
    for (std::size_t i = 0; i < n; ++i) scaled[i] *= values_[i];
    found.push_back({"difference of V (values x) from A (V x) over |A| n eps",
                     difference(times(before, times(after, x)), times(after, scaled), static_cast<double>(n)), "1",
                     bound});
    found.push_back({"deviation of eigenvectors from orthogonality over n eps", from_orthogonal(after), "1", bound});
    return found;
}

void Eigen::spoil(std::size_t check, Matrix after) {
    if (check == 0) std::swap(values_.front(), values_.back());
    if (check == 1) values_.back() *= 2;
    if (check == 2) std::swap(values_.front(), values_.back());
    if (check == 3) after(0, 0) += 1;
}

Svd::Svd(Library const& library, std::size_t n)
    : call_(library.symbols.find<Call>(function)),
      wide_(library.wide),
      values_(n, 0.0),
      left_(n * n, 0.0),
      right_(n * n, 0.0),
      integers_(8 * n, 0) {
    double wanted = 0, matrix = 0;
    static_cast<void>(ask({&matrix, n}, &wanted, -1));
    work_.assign(static_cast<std::size_t>(wanted), 0.0);
}

std::int64_t Svd::ask(Matrix a, double* work, std::int64_t length) {
    Integer order(static_cast<std::int64_t>(a.n), wide_), space(length, wide_), info(0, wide_);
    void const* const n = order.address();
    call_("A", n, n, a.data, n, values_.data(), left_.data(), n, right_.data(), n, work, space.address(),
          integers_.data(), info.address(), 1);
    return info.value();
}

void Svd::fill(Matrix a) { fill_with_spectrum(a, false); }

std::int64_t Svd::run(Matrix a) { return ask(a, work_.data(), static_cast<std::int64_t>(work_.size())); }

octant::Results Svd::check(Matrix before, Matrix) {
    std::size_t const n = before.n;
    Matrix const left{left_.data(), n}, right{right_.data(), n};  // the latter is V'
    Vector const x = random_vector(n, stream_of_x);
    Vector inner = times(right, x);
    for (std::size_t i = 0; i < n; ++i) inner[i] *= values_[i];
    auto const size = static_cast<double>(n);
    return {{"difference of singular values from n ... 1 over |A| n eps", difference(values_, counting(n, true), size),
             "1", bound},
            {"difference of U (values (V' x)) from A x over |A| n eps",
             difference(times(before, x), times(left, inner), size), "1", bound},
            {"deviation of singular vectors from orthogonality over n eps",
             std::max(from_orthogonal(left), from_orthogonal(right)), "1", bound}};
}

void Svd::spoil(std::size_t check, Matrix) {
    if (check == 0) std::swap(values_.front(), values_.back());
    if (check == 1) std::swap(values_.front(), values_.back());
    if (check == 2) left_[0] += 1;
}

}  // namespace lapack
