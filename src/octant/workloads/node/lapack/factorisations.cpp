// LU, Cholesky and QR.
#include "routines.hpp"

#include <cstring>
#include <utility>

namespace lapack {
namespace {

using octant::blas::Integer;
using octant::blas::Library;

constexpr int vectors_tried = 3;
constexpr std::uint64_t stream_of_matrix = 1, stream_of_x = 10;

// The worst over random vectors of what both sides of an equation make of them.
template <class Sides>
double worst_of(Matrix before, Sides const& sides) {
    double const size = largest_row_sum(before);
    double worst = 0;
    for (std::uint64_t trial = 0; trial < vectors_tried; ++trial) {
        Vector const x = random_vector(before.n, stream_of_x + trial);
        auto const [one, other] = sides(x);
        octant::keep_worst(worst, difference(one, other, size));
    }
    return worst;
}

}  // namespace

Lu::Lu(Library const& library, std::size_t n)
    : call_(library.symbols.find<Call>(function)), wide_(library.wide), pivots_(n, 0) {}

void Lu::fill(Matrix a) {
    for (std::size_t i = 0; i < a.n * a.n; ++i) a.data[i] = octant::random_at(i, stream_of_matrix);
}

std::int64_t Lu::run(Matrix a) {
    Integer order(static_cast<std::int64_t>(a.n), wide_), info(0, wide_);
    call_(order.address(), order.address(), a.data, order.address(), pivots_.data(), info.address());
    return info.value();
}

octant::Results Lu::check(Matrix before, Matrix after) {
    auto const pivot = [&](std::size_t i) {
        std::int32_t narrow = 0;
        std::memcpy(&narrow, reinterpret_cast<char const*>(pivots_.data()) + i * sizeof narrow, sizeof narrow);
        std::int64_t const from_one = wide_ ? pivots_[i] : narrow;
        return static_cast<std::size_t>(std::clamp<std::int64_t>(from_one, 1, static_cast<std::int64_t>(after.n)) - 1);
    };
    double const error = worst_of(before, [&](Vector const& x) {
        Vector permuted = times(before, x);
        for (std::size_t i = 0; i < after.n; ++i) std::swap(permuted[i], permuted[pivot(i)]);
        return std::pair(std::move(permuted), times(after, times(after, x, Part::upper), Part::unit_lower));
    });
    double multiplier = 0;
    for (std::size_t j = 0; j < after.n; ++j)
        for (std::size_t i = j + 1; i < after.n; ++i) octant::keep_worst(multiplier, std::abs(after(i, j)));
    return {{"difference of L U x from P A x over |A| n eps", error, "1", bound},
            {"largest multiplier", multiplier, "1", 1 + 0x1p-50}};
}

void Lu::spoil(std::size_t check, Matrix after) {
    if (check == 0) after(0, after.n - 1) += 1;
    if (check == 1) after(after.n - 1, 0) = 2;
}

Cholesky::Cholesky(Library const& library, std::size_t)
    : call_(library.symbols.find<Call>(function)), wide_(library.wide) {}

// Symmetric, and positive definite as its diagonal exceeds the sums of its rows.
void Cholesky::fill(Matrix a) {
    Lu::fill(a);
    for (std::size_t j = 0; j < a.n; ++j) {
        for (std::size_t i = 0; i < j; ++i) a(j, i) = a(i, j);
        a(j, j) = static_cast<double>(a.n) + std::abs(a(j, j));
    }
}

std::int64_t Cholesky::run(Matrix a) {
    Integer order(static_cast<std::int64_t>(a.n), wide_), info(0, wide_);
    call_("L", order.address(), a.data, order.address(), info.address(), 1);
    return info.value();
}

octant::Results Cholesky::check(Matrix before, Matrix after) {
    double const error = worst_of(before, [&](Vector const& x) {
        return std::pair(times(before, x), times(after, times(after, x, Part::lower, true), Part::lower));
    });
    return {{"difference of L L' x from A x over |A| n eps", error, "1", bound}};
}

void Cholesky::spoil(std::size_t, Matrix after) { after(after.n - 1, 0) += 1; }

Qr::Qr(Library const& library, std::size_t n)
    : call_(library.symbols.find<Call>(function)), wide_(library.wide), factors_(n, 0.0) {
    double wanted = 0, matrix = 0;
    static_cast<void>(ask({&matrix, n}, &wanted, -1));
    work_.assign(static_cast<std::size_t>(wanted), 0.0);
}

std::int64_t Qr::ask(Matrix a, double* work, std::int64_t length) {
    Integer order(static_cast<std::int64_t>(a.n), wide_), space(length, wide_), info(0, wide_);
    call_(order.address(), order.address(), a.data, order.address(), factors_.data(), work, space.address(),
          info.address());
    return info.value();
}

std::int64_t Qr::run(Matrix a) { return ask(a, work_.data(), static_cast<std::int64_t>(work_.size())); }

// Q is the product of I - t v v', v below the diagonal with a 1 on it; each is orthogonal where t |v|^2 is 2, or t is
// 0.
octant::Results Qr::check(Matrix before, Matrix after) {
    std::size_t const n = after.n;
    double orthogonal = 0;
    for (std::size_t j = 0; j < n; ++j) {
        double squares = 1;
        for (std::size_t i = j + 1; i < n; ++i) squares += after(i, j) * after(i, j);
        octant::keep_worst(orthogonal, factors_[j] == 0 ? 0 : std::abs(factors_[j] * squares - 2));
    }
    double const error = worst_of(before, [&](Vector const& x) {
        Vector y = times(after, x, Part::upper);
        for (std::size_t j = n; j-- > 0;) {
            double sum = y[j];
            for (std::size_t i = j + 1; i < n; ++i) sum += after(i, j) * y[i];
            y[j] -= factors_[j] * sum;
            for (std::size_t i = j + 1; i < n; ++i) y[i] -= factors_[j] * sum * after(i, j);
        }
        return std::pair(times(before, x), std::move(y));
    });
    orthogonal /= static_cast<double>(n) * std::numeric_limits<double>::epsilon();
    return {{"difference of Q R x from A x over |A| n eps", error, "1", bound},
            {"deviation of Q from orthogonality over n eps", orthogonal, "1", bound}};
}

void Qr::spoil(std::size_t check, Matrix after) {
    if (check == 0) after(0, after.n - 1) += 1;
    if (check == 1) factors_[0] += 0.5;
}

}  // namespace lapack
