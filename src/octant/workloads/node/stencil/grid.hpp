// A grid of points in rows, and a pass over it by all threads: in planes, in blocks of rows, or several steps at once.
#pragma once

#include "loops.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

namespace stencil {

struct Size {
    std::ptrdiff_t x, y, z;
    [[nodiscard]] std::ptrdiff_t points() const noexcept { return x * y * z; }
};

// Rows are whole cache lines. Between rows and planes, and around all, are points that stay zero; a row has an odd
// number of lines and so has a plane, so that neighbours do not meet in the same sets of a cache.
struct Shape {
    Size size;
    std::ptrdiff_t pitch, plane;  // elements from a row, from a plane to the next
    std::ptrdiff_t first;         // element of the first point
    std::size_t elements;

    template <class Real>
    static Shape of(Size size) {
        constexpr std::ptrdiff_t line = 64 / sizeof(Real);
        auto const odd = [](std::ptrdiff_t lines) { return lines | 1; };
        std::ptrdiff_t const pitch = odd(size.x / line + 1) * line;
        std::ptrdiff_t const plane = odd(pitch / line * (size.y + reach)) * line;
        return {size, pitch, plane, reach * (plane + pitch) + line,
                static_cast<std::size_t>((size.z + 2 * reach) * plane + reach * pitch + 2 * line)};
    }
    [[nodiscard]] std::ptrdiff_t at(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) const noexcept {
        return first + x + y * pitch + z * plane;
    }
};

struct Plan {
    std::ptrdiff_t tile;   // rows of a block
    std::ptrdiff_t depth;  // steps of a pass; 1: no blocking in time
    int lanes;
};

struct Part {  // rows and planes, the last not included
    std::ptrdiff_t y, y_end, z, z_end;
};

template <class Real>
class Grid {
  public:
    // `levels`: two, of which the older one is overwritten, or three. The last array holds the factor. Each is as long
    // as the shape says.
    Grid(Shape const& shape, std::vector<Real*> levels, Real* factor, Plan plan, Update<Real> update,
         std::ptrdiff_t ahead);

    [[nodiscard]] Shape const& shape() const noexcept { return shape_; }
    [[nodiscard]] Plan const& plan() const noexcept { return plan_; }
    [[nodiscard]] Real* level(std::ptrdiff_t steps_ago) const noexcept {
        auto const all = static_cast<std::ptrdiff_t>(levels_.size());
        return levels_[static_cast<std::size_t>((now_ + all - steps_ago) % all)];
    }
    [[nodiscard]] Real& value(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z,
                              std::ptrdiff_t steps_ago = 0) const {
        return level(steps_ago)[shape_.at(x, y, z)];
    }
    [[nodiscard]] Real& factor(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) const {
        return factor_[shape_.at(x, y, z)];
    }

    // Points of a lane, which it also touches first.
    [[nodiscard]] std::vector<Part> parts(int lane) const;
    // A lane's part of a pass; all lanes at the same time.
    void pass(int lane);
    // Between two passes, by one thread.
    void end_pass();

  private:
    [[nodiscard]] std::ptrdiff_t tiles() const noexcept {
        return (shape_.size.y + reach * (plan_.depth - 1) + plan_.tile - 1) / plan_.tile;
    }
    void make(std::ptrdiff_t step, std::ptrdiff_t y, std::ptrdiff_t y_end, std::ptrdiff_t z) const;
    void in_planes(Part part) const;
    void in_waves(int lane);

    struct alignas(64) Progress {
        std::atomic<std::ptrdiff_t> planes = 0;  // of a block, over all passes
    };

    Shape shape_;
    std::vector<Real*> levels_;
    Real* factor_;
    Plan plan_;
    Update<Real> update_;
    std::ptrdiff_t ahead_;
    std::ptrdiff_t now_ = 1;  // the level that is not older
    std::ptrdiff_t passes_ = 0;
    std::vector<Progress> progress_;  // by block
};

// Rows of a block whose points, over as many planes and levels as are needed again, fit into the caches of one lane.
[[nodiscard]] std::ptrdiff_t rows_that_fit(Size size, std::size_t element_bytes, Plan plan, std::ptrdiff_t l2_bytes,
                                           std::ptrdiff_t l3_bytes);

}  // namespace stencil
