#include "checks.hpp"

#include "reference.hpp"
#include "start.hpp"

#include "kernels/worst.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace stencil {

using octant::Context;

template <class Real, class Start>
void begin(Context const& context, Grid<Real> const& grid, Start const& start, std::size_t levels) {
    context.on_each_thread([&](int lane) {
        for (Part const& part : grid.parts(lane)) fill(grid, part, start, static_cast<int>(levels));
    });
}

template <class Real>
void pass(Context const& context, Grid<Real>& grid) {
    context.on_each_thread([&](int lane) { grid.pass(lane); });
    grid.end_pass();
}

namespace {

constexpr std::ptrdiff_t edge = 64, min_steps = 20, small_tile = 20;
constexpr std::ptrdiff_t wave_edge = 80, few_steps = 4;  // at most 8, so that a part in the middle feels no border

template <class Real>
constexpr double rounding = std::is_same_v<Real, float> ? 1e-5 : 1e-13;
constexpr double of_eighth_order = 1e-5;  // of fourth order it is twice as much in the last step alone

// A small grid for verification, which is updated in the same way as the timed grid, in several blocks.
template <class Real>
struct CheckGrid {
    std::vector<std::vector<Real>> memory;
    Grid<Real> grid;

    CheckGrid(Way<Real> const& way, Size size) : memory(arrays(way, size)), grid(of(way, size, memory)) {}

    static std::vector<std::vector<Real>> arrays(Way<Real> const& way, Size size) {
        constexpr std::size_t line = 64 / sizeof(Real);
        return {way.levels + 1, std::vector<Real>(Shape::of<Real>(size).elements + line)};
    }
    static Grid<Real> of(Way<Real> const& way, Size size, std::vector<std::vector<Real>>& memory) {
        std::vector<Real*> at;
        for (auto& one : memory) {
            void* begin = one.data();
            std::size_t room = one.size() * sizeof(Real);
            at.push_back(static_cast<Real*>(std::align(64, room - 64, begin, room)));
        }
        Real* const factor = at.back();
        at.pop_back();
        Plan plan = way.plan;
        plan.tile = std::min(plan.tile, small_tile);
        Shape const shape = Shape::of<Real>(size);
        return {shape, at, factor, plan, way.update, way.asks ? 2 * shape.pitch : 0};
    }
};

// Steps that the passes make which make at least so many.
std::ptrdiff_t passes_of(Plan const& plan, std::ptrdiff_t steps) { return (steps + plan.depth - 1) / plan.depth; }

// A row at the border of a block, or the first, as it was a step before.
template <class Real>
void make_stale(Grid<Real> const& grid) {
    Size const size = grid.shape().size;
    std::ptrdiff_t const y = grid.plan().tile < size.y ? grid.plan().tile : 0;
    for (std::ptrdiff_t x = 0; x < size.x; ++x) grid.value(x, y, size.z / 2) = grid.value(x, y, size.z / 2, 1);
}

template <class Real>
double worst_of_small(Way<Real> const& way, bool spoilt) {
    Size const size{edge, edge, edge};
    Scattered const start{size};
    CheckGrid<Real> check(way, size);
    Box const all{{0, 0, 0}, {edge - 1, edge - 1, edge - 1}};
    Reference<Real> reference(all, start);
    begin(way.context, check.grid, start, way.levels);
    std::ptrdiff_t const passes = passes_of(way.plan, min_steps);
    for (std::ptrdiff_t i = 0; i < passes; ++i) {
        pass(way.context, check.grid);
        if (spoilt && i == passes / 2) make_stale(check.grid);
        for (std::ptrdiff_t step = 0; step < way.plan.depth; ++step) reference.step(all);
    }
    double worst = 0, largest = 0;
    Reference<Real>::each(all, [&](std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) {
        double const expected = reference.value(x, y, z);
        octant::keep_worst(worst, std::abs(check.grid.value(x, y, z) - expected));
        largest = std::max(largest, std::abs(expected));
    });
    return worst / largest;
}

// Corners, and places next to the borders of blocks and of lanes.
std::vector<std::array<std::ptrdiff_t, 3>> places_of(Size size, Plan const& plan) {
    std::ptrdiff_t const y = std::min(plan.tile, size.y - 1), z = size.z / plan.lanes;
    return {{0, 0, 0},
            {size.x - 1, size.y - 1, size.z - 1},
            {size.x / 2, y, std::min(z, size.z - 1)},
            {size.x - 1, y - std::min<std::ptrdiff_t>(y, 1), std::max<std::ptrdiff_t>(z - 1, 0)},
            {size.x / 3, std::max<std::ptrdiff_t>(0, y - reach), size.z / 2}};
}

// Recomputes places from the start, each from all points that it can depend on after few steps.
template <class Real>
double worst_of_timed(Way<Real> const& way, Grid<Real>& grid, bool spoilt) {
    Size const size = grid.shape().size;
    Scattered const start{size};
    begin(way.context, grid, start, way.levels);
    std::ptrdiff_t const passes = passes_of(way.plan, few_steps), steps = passes * way.plan.depth;
    for (std::ptrdiff_t i = 0; i < passes; ++i) pass(way.context, grid);
    auto const places = places_of(size, way.plan);
    if (spoilt) grid.value(places[2][0], places[2][1], places[2][2]) += static_cast<Real>(0.001);
    double worst = 0;
    for (auto const& place : places) {
        std::ptrdiff_t const at[] = {place[0], place[1], place[2]};
        Reference<Real> reference(Box::around(at, reach * steps, size), start);
        for (std::ptrdiff_t left = steps - 1; left >= 0; --left) reference.step(Box::around(at, reach * left, size));
        octant::keep_worst(worst, std::abs(grid.value(at[0], at[1], at[2]) - reference.value(at[0], at[1], at[2])));
    }
    return worst;
}

// Compares the middle, as far as the borders have no influence.
template <class Real>
double worst_of_wave(Way<Real> const& way, bool spoilt) {
    Size const size{wave_edge, wave_edge, wave_edge};
    CheckGrid<Real> check(way, size);
    begin(way.context, check.grid, PlaneWave{}, way.levels);
    std::ptrdiff_t const passes = passes_of(way.plan, few_steps), steps = passes * way.plan.depth;
    for (std::ptrdiff_t i = 0; i < passes; ++i) pass(way.context, check.grid);
    std::ptrdiff_t const low = reach * steps, high = wave_edge - reach * steps;
    if (spoilt) {  // a corner, as derivatives of fourth order make it: it differs most where the wave is highest
        Shape const& shape = check.grid.shape();
        Real const* const p = check.grid.level(1) + shape.at(low, low, low);
        constexpr double fourth[] = {3 * -5.0 / 2, 4.0 / 3, -1.0 / 12, 0, 0};
        double change = (fourth[0] - weights[0]) * *p;
        for (std::ptrdiff_t const stride : {std::ptrdiff_t{1}, shape.pitch, shape.plane})
            for (std::ptrdiff_t k = 1; k <= reach; ++k)
                change += (fourth[k] - weights[k]) * (p[-k * stride] + p[k * stride]);
        check.grid.value(low, low, low) += static_cast<Real>(PlaneWave::everywhere * change);
    }
    double worst = 0;
    Box const middle{{low, low, low}, {high - 1, high - 1, high - 1}};
    Reference<Real>::each(middle, [&](std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) {
        double const expected = PlaneWave::after(static_cast<double>(steps), x, y, z);
        octant::keep_worst(worst, std::abs(check.grid.value(x, y, z) - expected));
    });
    return worst;
}

// Points that are not, to the last bit, what the one mirrored in x, y or z is.
template <class Real>
double unlike_their_mirror(Way<Real> const& way, bool spoilt) {
    Size const size{edge, edge, edge};
    CheckGrid<Real> check(way, size);
    begin(way.context, check.grid, Mirrored{{size}}, way.levels);
    for (std::ptrdiff_t i = 0; i < passes_of(way.plan, min_steps); ++i) pass(way.context, check.grid);
    if (spoilt) {
        Real& one = check.grid.value(edge / 3, edge - 1, edge / 2);
        one = std::nextafter(one, std::numeric_limits<Real>::infinity());
    }
    double unlike = 0;
    Box const all{{0, 0, 0}, {edge - 1, edge - 1, edge - 1}};
    Reference<Real>::each(all, [&](std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) {
        Real const here = check.grid.value(x, y, z);
        bool const alike = here == check.grid.value(edge - 1 - x, y, z) &&
                           here == check.grid.value(x, edge - 1 - y, z) && here == check.grid.value(x, y, edge - 1 - z);
        unlike += alike ? 0 : 1;
    });
    return unlike;
}

}  // namespace

template <class Real>
octant::Results checks(Way<Real> const& way, Grid<Real>& timed, std::size_t spoilt) {
    return {{"difference from the plain loop, 64³ points, 20 steps", worst_of_small(way, spoilt == small_grid), "1",
             rounding<Real>},
            {"difference at five places of the grid that was timed", worst_of_timed(way, timed, spoilt == timed_grid),
             "1", rounding<Real>},
            {"difference of a plane wave from the dispersion relation", worst_of_wave(way, spoilt == wave), "1",
             of_eighth_order},
            {"points that differ from their mirror image", unlike_their_mirror(way, spoilt == mirror), "1", 0}};
}

template octant::Results checks(Way<float> const& way, Grid<float>& timed, std::size_t spoilt);
template octant::Results checks(Way<double> const& way, Grid<double>& timed, std::size_t spoilt);
template void begin(Context const& context, Grid<float> const& grid, Scattered const& start, std::size_t levels);
template void begin(Context const& context, Grid<double> const& grid, Scattered const& start, std::size_t levels);
template void pass(Context const& context, Grid<float>& grid);
template void pass(Context const& context, Grid<double>& grid);

}  // namespace stencil
