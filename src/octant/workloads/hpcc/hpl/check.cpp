#include "check.hpp"

#include "loops.hpp"
#include "matrix.hpp"

#include "kernels/random.hpp"

#include <algorithm>
#include <cmath>

namespace hpl {
namespace {

constexpr double epsilon = 0x1p-53;
constexpr std::uint64_t stream_of_signs = 17;

using Vector = std::vector<double>;

void add_up(Vector& values, octant::Comm const& all) {
    octant::check(
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, all.get()));
}

// Keeps a NaN.
double largest(Vector const& values) {
    double found = 0;
    for (double const value : values) found = std::abs(value) <= found ? found : std::abs(value);
    return found;
}

struct Products {  // by global rows, of column_sums columns, on all processes
    Vector residual, row_sums, column_sums, right_side, image;
    explicit Products(std::size_t n)
        : residual(n, 0.0), row_sums(n, 0.0), column_sums(n, 0.0), right_side(n, 0.0), image(n, 0.0) {}
};

// A x - b, the sums of magnitudes, b and A z.
Products products(Process const& process, std::uint64_t seed, Vector const& x, Vector const& z) {
    Layout const& layout = process.layout;
    Products found(x.size());
    auto const columns = static_cast<std::size_t>(layout.local_columns);
    Vector by_x(columns), by_z(columns), row(columns), down(columns, 0.0);
    bool const has_b = layout.has_column(layout.n());
    std::size_t const of_matrix = has_b ? columns - 1 : columns;
    for (std::size_t i = 0; i < columns; ++i) {
        auto const global =
            static_cast<std::size_t>(layout.columns.global(static_cast<std::int64_t>(i), layout.column));
        by_x[i] = i < of_matrix ? x[global] : -1;
        by_z[i] = i < of_matrix ? z[global] : 0;
    }
    Rows rows(layout, seed);
    for (std::int64_t i = 0; i < layout.local_rows; ++i) {
        rows.next(row.data());
        auto const global = static_cast<std::size_t>(layout.rows.global(i, layout.row));
        found.residual[global] = dot(layout.local_columns, row.data(), by_x.data());
        found.image[global] = dot(layout.local_columns, row.data(), by_z.data());
        for (std::size_t j = 0; j < of_matrix; ++j) found.row_sums[global] += std::abs(row[j]);
        for (std::size_t j = 0; j < of_matrix; ++j) down[j] += std::abs(row[j]);
        if (has_b) found.right_side[global] = row[of_matrix];
    }
    for (std::size_t j = 0; j < of_matrix; ++j)
        found
            .column_sums[static_cast<std::size_t>(layout.columns.global(static_cast<std::int64_t>(j), layout.column))] =
            down[j];
    for (Vector* one : {&found.residual, &found.row_sums, &found.column_sums, &found.right_side, &found.image})
        add_up(*one, process.all);
    return found;
}

// U z, and the largest magnitude of a multiplier on this process.
Vector upper_image(Process const& process, std::span<double const> matrix, Vector const& z, double& multiplier) {
    Layout const& layout = process.layout;
    Vector found(z.size(), 0.0), mine(static_cast<std::size_t>(layout.local_columns), 0.0);
    std::int64_t const columns = layout.first_column(layout.n());
    for (std::int64_t i = 0; i < columns; ++i)
        mine[static_cast<std::size_t>(i)] = z[static_cast<std::size_t>(layout.columns.global(i, layout.column))];
    multiplier = 0;
    for (std::int64_t i = 0; i < layout.local_rows; ++i) {
        std::int64_t const global = layout.rows.global(i, layout.row), diagonal = layout.first_column(global);
        double const* const row = matrix.data() + i * layout.leading;
        found[static_cast<std::size_t>(global)] = dot(columns - diagonal, row + diagonal, mine.data() + diagonal);
        for (std::int64_t j = 0; j < diagonal; ++j)
            multiplier = std::abs(row[j]) <= multiplier ? multiplier : std::abs(row[j]);
    }
    add_up(found, process.all);
    return found;
}

// P' L y in place: of each panel, from the last to the first, its columns of L and then its interchanges backwards.
void apply_lower(Process const& process, std::span<double const> matrix, std::vector<std::int64_t> const& pivots,
                 Vector& y) {
    Layout const& layout = process.layout;
    std::int64_t const n = layout.n();
    for (std::int64_t first = (n - 1) / layout.block() * layout.block(); first >= 0; first -= layout.block()) {
        std::int64_t const end = std::min(n, first + layout.block());
        Vector add(static_cast<std::size_t>(n - first), 0.0);
        if (layout.has_column(first))
            for (std::int64_t i = layout.first_row(first); i < layout.local_rows; ++i) {
                std::int64_t const global = layout.rows.global(i, layout.row);
                add[static_cast<std::size_t>(global - first)] =
                    dot(std::min(global, end) - first, matrix.data() + i * layout.leading + layout.first_column(first),
                        y.data() + first);
            }
        add_up(add, process.all);
        for (std::int64_t i = first; i < n; ++i)
            y[static_cast<std::size_t>(i)] += add[static_cast<std::size_t>(i - first)];
        for (std::int64_t i = end - 1; i >= first; --i)
            std::swap(y[static_cast<std::size_t>(i)], y[static_cast<std::size_t>(pivots[static_cast<std::size_t>(i)])]);
    }
}

}  // namespace

Errors errors(Process const& process, std::uint64_t seed, std::span<double const> matrix,
              std::vector<std::int64_t> const& pivots, std::vector<double> const& x) {
    Vector z(x.size());
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = octant::random_at(i, stream_of_signs) < 0 ? -1 : 1;
    Products const made = products(process, seed, x, z);
    double mine = 0;
    Vector image = upper_image(process, matrix, z, mine);
    apply_lower(process, matrix, pivots, image);
    for (std::size_t i = 0; i < image.size(); ++i) image[i] -= made.image[i];
    double unknowns = 0;
    for (double const one : x) unknowns += std::abs(one);
    Norms const norms{largest(made.residual),
                      largest(made.row_sums),
                      largest(made.column_sums),
                      largest(made.right_side),
                      largest(x),
                      unknowns};
    double const n = static_cast<double>(x.size()), scale = norms.row_sum * norms.unknown + norms.right_side;
    return {norms.residual / (epsilon * scale * n), largest(image) / (epsilon * norms.row_sum * n),
            process.all.max(mine), norms};
}

}  // namespace hpl
