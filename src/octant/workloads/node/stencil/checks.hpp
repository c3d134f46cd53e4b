// Checks of an update scheme: on small separate grids, and on the timed grid.
#pragma once

#include "grid.hpp"

#include "octant/context.hpp"

#include <cstddef>

namespace stencil {

enum Check : std::size_t { small_grid, timed_grid, wave, mirror, none };

// A way of going through a grid, to be repeated on others.
template <class Real>
struct Way {
    octant::Context const& context;
    Plan plan;
    std::size_t levels;
    Update<Real> update;
    bool asks;
};

// Every check; `spoilt` is one whose values are falsified before the comparison.
template <class Real>
[[nodiscard]] octant::Results checks(Way<Real> const& way, Grid<Real>& timed, std::size_t spoilt);

// Fills all levels of a grid by the threads that work on it.
template <class Real, class Start>
void begin(octant::Context const& context, Grid<Real> const& grid, Start const& start, std::size_t levels);
template <class Real>
void pass(octant::Context const& context, Grid<Real>& grid);

}  // namespace stencil
