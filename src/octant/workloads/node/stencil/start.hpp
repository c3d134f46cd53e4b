// Initial values of the grids: two levels, and the factor v² dt² / h² of every point.
#pragma once

#include "grid.hpp"
#include "kernels/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

namespace stencil {

// Random values at rest, and a factor of its own for every point: below 0.2 the steps are stable.
struct Scattered {
    Size size;
    [[nodiscard]] std::uint64_t index(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) const {
        return static_cast<std::uint64_t>((z * size.y + y) * size.x + x);
    }
    [[nodiscard]] double value(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z, int /*steps_ago*/) const {
        return octant::random_at(index(x, y, z), 1);
    }
    [[nodiscard]] double factor(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) const {
        return 0.06 + 0.03 * octant::random_at(index(x, y, z), 2);
    }
};

// The same, mirrored in every direction.
struct Mirrored {
    Scattered all;
    [[nodiscard]] static std::ptrdiff_t near(std::ptrdiff_t at, std::ptrdiff_t points) {
        return std::min(at, points - 1 - at);
    }
    [[nodiscard]] double value(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z, int steps_ago) const {
        return all.value(near(x, all.size.x), near(y, all.size.y), near(z, all.size.z), steps_ago);
    }
    [[nodiscard]] double factor(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) const {
        return all.factor(near(x, all.size.x), near(y, all.size.y), near(z, all.size.z));
    }
};

// A wave that goes through a uniform medium; `after` any number of steps by the law of waves: its frequency follows
// from its length, 4 sin²(w/2) = factor |k|², where the derivatives in space are true ones and time goes in steps.
struct PlaneWave {
    static constexpr double everywhere = 0.09;
    static constexpr double k[] = {2 * std::numbers::pi / 12, 2 * std::numbers::pi / 14, 2 * std::numbers::pi / 16};

    [[nodiscard]] static double after(double steps, std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) {
        double const w = 2 * std::asin(std::sqrt(everywhere * (k[0] * k[0] + k[1] * k[1] + k[2] * k[2])) / 2);
        return std::cos(k[0] * static_cast<double>(x) + k[1] * static_cast<double>(y) + k[2] * static_cast<double>(z) -
                        w * steps);
    }
    [[nodiscard]] double value(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z, int steps_ago) const {
        return after(-steps_ago, x, y, z);
    }
    [[nodiscard]] double factor(std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t) const { return everywhere; }
};

// The rows and planes of a part, with the points around the grid that stay zero where they touch it.
template <class Real, class Start>
void fill(Grid<Real> const& grid, Part part, Start const& start, int levels) {
    Size const size = grid.shape().size;
    auto const outer = [](std::ptrdiff_t first, std::ptrdiff_t end, std::ptrdiff_t points) {
        return std::pair{first == 0 ? -reach : first, end == points ? end + reach : end};
    };
    auto const [y_first, y_end] = outer(part.y, part.y_end, size.y);
    auto const [z_first, z_end] = outer(part.z, part.z_end, size.z);
    auto const inside = [](std::ptrdiff_t at, std::ptrdiff_t points) { return at >= 0 && at < points; };
    for (std::ptrdiff_t z = z_first; z < z_end; ++z)
        for (std::ptrdiff_t y = y_first; y < y_end; ++y)
            for (std::ptrdiff_t x = -reach; x < size.x + reach; ++x) {
                bool const real = inside(x, size.x) && inside(y, size.y) && inside(z, size.z);
                for (int ago = 0; ago < levels; ++ago)
                    grid.value(x, y, z, ago) = static_cast<Real>(real ? start.value(x, y, z, std::min(ago, 1)) : 0);
                grid.factor(x, y, z) = static_cast<Real>(real ? start.factor(x, y, z) : 0);
            }
}

}  // namespace stencil
