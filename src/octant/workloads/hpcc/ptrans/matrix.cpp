#include "matrix.hpp"

#include "kernels/hpl_random.hpp"
#include "kernels/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace ptrans {
namespace {

constexpr std::size_t lanes = 32;  // numbers that are made at once: one after the other each would wait for the last

void sequence(double* to, octant::hpl::Jump const& stride, std::uint64_t start, std::int64_t count) {
    std::array<std::uint64_t, lanes> at{};
    octant::hpl::Jump all{};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        at[lane] = all(start);
        all = {stride.factor * all.factor, stride.factor * all.term + stride.term};
    }
    std::int64_t done = 0;
    for (; done + static_cast<std::int64_t>(lanes) <= count; done += static_cast<std::int64_t>(lanes))
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            to[static_cast<std::size_t>(done) + lane] = octant::hpl::entry(at[lane]);
            at[lane] = all(at[lane]);
        }
    for (std::size_t lane = 0; done < count; ++lane, ++done) to[done] = octant::hpl::entry(at[lane]);
}

// Calls body(local row, local column, row, column, length) for each run of rows that are neighbours in the whole.
template <class Body>
void each_run(Layout const& layout, Place at, Body const& body) {
    std::int64_t const height = layout.height(at), width = layout.width(at);
    std::int64_t const run = layout.rows.processes == 1 ? height : layout.rows.block;
    for (std::int64_t column = 0; column < width; ++column) {
        std::int64_t const j = layout.columns.global(column, at.column);
        for (std::int64_t row = 0; row < height; row += run)
            body(row, column, layout.rows.global(row, at.row), j, std::min(run, height - row));
    }
}

}  // namespace

void Numbers::run(double* to, std::uint64_t first, std::uint64_t stride, std::int64_t count) const {
    if (kind == Kind::hpcc) return sequence(to, octant::hpl::jump(stride), octant::hpl::jump(first)(seed), count);
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = octant::random_at(first + stride * static_cast<std::uint64_t>(i), seed);
}

void fill(double* part, Layout const& layout, Place at, Numbers const& numbers) {
    std::int64_t const height = layout.height(at);
    auto const n = static_cast<std::uint64_t>(layout.n());
    each_run(layout, at,
             [&](std::int64_t row, std::int64_t column, std::int64_t i, std::int64_t j, std::int64_t length) {
                 numbers.run(part + row + column * height,
                             static_cast<std::uint64_t>(i) + static_cast<std::uint64_t>(j) * n, 1, length);
             });
}

Difference compare(double const* part, Layout const& layout, Place at, Numbers const& a, Numbers const& c) {
    Difference found;
    std::int64_t const height = layout.height(at);
    auto const n = static_cast<std::uint64_t>(layout.n());
    std::vector<double> due_a(static_cast<std::size_t>(height)), due_c(static_cast<std::size_t>(height));
    each_run(layout, at,
             [&](std::int64_t row, std::int64_t column, std::int64_t i, std::int64_t j, std::int64_t length) {
                 auto const i0 = static_cast<std::uint64_t>(i), j0 = static_cast<std::uint64_t>(j);
                 a.run(due_a.data(), j0 + i0 * n, n, length);
                 c.run(due_c.data(), i0 + j0 * n, 1, length);
                 double const* const got = part + row + column * height;
                 for (std::int64_t k = 0; k < length; ++k) {
                     double const due = due_c[static_cast<std::size_t>(k)] + due_a[static_cast<std::size_t>(k)];
                     if (got[k] == due) continue;
                     double const difference = std::abs(got[k] - due);
                     if (!(difference <= found.largest) && !std::isnan(found.largest)) found.largest = difference;
                     if (found.unequal++ == 0)
                         found.where = "row " + std::to_string(i + k) + ", column " + std::to_string(j);
                 }
             });
    return found;
}

}  // namespace ptrans
