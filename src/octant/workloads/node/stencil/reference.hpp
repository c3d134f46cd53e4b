// The plain loop, in double and over a box of the grid: what the quick ones are compared with.
#pragma once

#include "grid.hpp"

#include <cstddef>
#include <vector>

namespace stencil {

struct Box {  // the last point of each direction is included
    std::ptrdiff_t low[3], high[3];

    // All points that are at most so far from this one in every direction, as far as the grid goes.
    [[nodiscard]] static Box around(std::ptrdiff_t const (&at)[3], std::ptrdiff_t far, Size size) {
        std::ptrdiff_t const points[] = {size.x, size.y, size.z};
        Box box{};
        for (int d = 0; d < 3; ++d) {
            box.low[d] = at[d] > far ? at[d] - far : 0;
            box.high[d] = at[d] + far < points[d] ? at[d] + far : points[d] - 1;
        }
        return box;
    }
};

template <class Real>
class Reference {
  public:
    template <class Start>
    Reference(Box const& box, Start const& start) : box_(box) {
        for (int d = 0; d < 3; ++d) extent_[d] = box.high[d] - box.low[d] + 1 + 2 * reach;
        auto const all = static_cast<std::size_t>(extent_[0] * extent_[1] * extent_[2]);
        now_.assign(all, 0);
        old_.assign(all, 0);
        factor_.assign(all, 0);
        each(box, [&](std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) {
            // Rounded to the precision of the grid.
            now_[index(x, y, z)] = static_cast<Real>(start.value(x, y, z, 0));
            old_[index(x, y, z)] = static_cast<Real>(start.value(x, y, z, 1));
            factor_[index(x, y, z)] = static_cast<Real>(start.factor(x, y, z));
        });
    }
    // Updates the points in a part of the box; points outside of the box are zero.
    void step(Box const& part) {
        std::ptrdiff_t const strides[] = {1, extent_[0], extent_[0] * extent_[1]};
        each(part, [&](std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) {
            std::size_t const i = index(x, y, z);
            double const* const p = &now_[i];
            double sum = 0;
            for (std::ptrdiff_t const stride : strides) {
                sum += weights[0] / 3 * *p;
                for (std::ptrdiff_t k = 1; k <= reach; ++k) sum += weights[k] * (p[-k * stride] + p[k * stride]);
            }
            old_[i] = 2 * *p - old_[i] + factor_[i] * sum;
        });
        now_.swap(old_);
    }
    [[nodiscard]] double value(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) const {
        return now_[index(x, y, z)];
    }
    template <class Body>
    static void each(Box const& box, Body const& body) {
        for (std::ptrdiff_t z = box.low[2]; z <= box.high[2]; ++z)
            for (std::ptrdiff_t y = box.low[1]; y <= box.high[1]; ++y)
                for (std::ptrdiff_t x = box.low[0]; x <= box.high[0]; ++x) body(x, y, z);
    }

  private:
    [[nodiscard]] std::size_t index(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) const {
        return static_cast<std::size_t>(
            ((z - box_.low[2] + reach) * extent_[1] + y - box_.low[1] + reach) * extent_[0] + x - box_.low[0] + reach);
    }
    Box box_;
    std::ptrdiff_t extent_[3]{};
    std::vector<double> now_, old_, factor_;
};

}  // namespace stencil
