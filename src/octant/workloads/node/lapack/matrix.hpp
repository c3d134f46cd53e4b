// Square matrices, column by column as Fortran has them, and the vectors that check what became of them.
#pragma once

#include "kernels/random.hpp"
#include "kernels/worst.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace lapack {

using Vector = std::vector<double>;

struct Matrix {  // a view
    double* data;
    std::size_t n;
    double& operator()(std::size_t i, std::size_t j) const noexcept { return data[j * n + i]; }
    [[nodiscard]] std::span<double> column(std::size_t j) const noexcept { return {data + j * n, n}; }
};

[[nodiscard]] inline Vector random_vector(std::size_t n, std::uint64_t stream) {
    Vector x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = octant::random_at(i, stream);
    return x;
}

// Which elements of a matrix take part; of a unit triangle the diagonal is ones.
enum class Part { whole, upper, lower, unit_lower };

// M x, or M' x.
[[nodiscard]] Vector times(Matrix m, Vector const& x, Part part = Part::whole, bool transposed = false);
// (I - 2 w w') M (I - 2 v v'), for w and v of length 1: the singular values stay; the eigenvalues too where w is v.
void reflect(Matrix m, Vector const& w, Vector const& v);
[[nodiscard]] Vector unit_vector(std::size_t n, std::uint64_t stream);
[[nodiscard]] double largest_row_sum(Matrix m);

// The largest element of x - y over `size`, in units of n times the relative precision.
[[nodiscard]] double difference(Vector const& x, Vector const& y, double size);

}  // namespace lapack
