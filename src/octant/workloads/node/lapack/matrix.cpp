#include "matrix.hpp"

namespace lapack {

Vector times(Matrix m, Vector const& x, Part part, bool transposed) {
    Vector y(m.n, 0.0);
    for (std::size_t j = 0; j < m.n; ++j) {
        std::size_t const first = part == Part::lower ? j : part == Part::unit_lower ? j + 1 : 0;
        std::size_t const last = part == Part::upper ? j + 1 : m.n;
        auto const column = m.column(j);
        if (part == Part::unit_lower) y[j] += x[j];
        double sum = 0;
        for (std::size_t i = first; i < last; ++i)
            if (transposed)
                sum += column[i] * x[i];
            else
                y[i] += column[i] * x[j];
        y[j] += sum;
    }
    return y;
}

void reflect(Matrix m, Vector const& w, Vector const& v) {
    Vector const left = times(m, w, Part::whole, true), right = times(m, v);
    double middle = 0;
    for (std::size_t i = 0; i < m.n; ++i) middle += w[i] * right[i];
    for (std::size_t j = 0; j < m.n; ++j)
        for (std::size_t i = 0; i < m.n; ++i)
            m(i, j) += -2 * w[i] * left[j] - 2 * right[i] * v[j] + 4 * middle * w[i] * v[j];
}

Vector unit_vector(std::size_t n, std::uint64_t stream) {
    Vector w = random_vector(n, stream);
    double squares = 0;
    for (double const one : w) squares += one * one;
    for (double& one : w) one /= std::sqrt(squares);
    return w;
}

double largest_row_sum(Matrix m) {
    Vector sums(m.n, 0.0);
    for (std::size_t j = 0; j < m.n; ++j)
        for (std::size_t i = 0; i < m.n; ++i) sums[i] += std::abs(m(i, j));
    return std::ranges::max(sums);
}

double difference(Vector const& x, Vector const& y, double size) {
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) octant::keep_worst(worst, std::abs(x[i] - y[i]));
    return worst / (size * static_cast<double>(x.size()) * std::numeric_limits<double>::epsilon());
}

}  // namespace lapack
