#include "grid.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace stencil {

template <class Real>
Grid<Real>::Grid(Shape const& shape, std::vector<Real*> levels, Real* factor, Plan plan, Update<Real> update,
                 std::ptrdiff_t ahead)
    : shape_(shape),
      levels_(std::move(levels)),
      factor_(factor),
      plan_(plan),
      update_(update),
      ahead_(ahead),
      progress_(static_cast<std::size_t>(tiles())) {}

template <class Real>
std::vector<Part> Grid<Real>::parts(int lane) const {
    Size const size = shape_.size;
    if (plan_.depth == 1) return {{0, size.y, size.z * lane / plan_.lanes, size.z * (lane + 1) / plan_.lanes}};
    std::vector<Part> parts;
    for (std::ptrdiff_t tile = lane; tile < tiles(); tile += plan_.lanes)
        if (tile * plan_.tile < size.y)
            parts.push_back({tile * plan_.tile, std::min(size.y, (tile + 1) * plan_.tile), 0, size.z});
    return parts;
}

template <class Real>
void Grid<Real>::pass(int lane) {
    if (plan_.depth > 1) return in_waves(lane);
    for (Part const& part : parts(lane)) in_planes(part);
}

template <class Real>
void Grid<Real>::end_pass() {
    now_ = (now_ + plan_.depth) % static_cast<std::ptrdiff_t>(levels_.size());
    ++passes_;
}

template <class Real>
void Grid<Real>::make(std::ptrdiff_t step, std::ptrdiff_t y, std::ptrdiff_t y_end, std::ptrdiff_t z) const {
    std::ptrdiff_t const at = shape_.at(0, y, z);
    update_({level(-step) + at, level(1 - step) + at, level(-1 - step) + at, factor_ + at, y_end - y, shape_.size.x,
             shape_.pitch, shape_.plane, ahead_});
}

// A block of rows in all planes, then the next: the planes around a point are still in the cache.
template <class Real>
void Grid<Real>::in_planes(Part part) const {
    for (std::ptrdiff_t y = part.y; y < part.y_end; y += plan_.tile)
        for (std::ptrdiff_t z = part.z; z < part.z_end; ++z) make(0, y, std::min(part.y_end, y + plan_.tile), z);
}

// A wave of planes for each block of rows: each later step follows the one before it `reach` planes behind and `reach`
// rows aside, where all that it needs is made and what it overwrites is needed no more. A block may be as far as the
// one before it, less a plane.
template <class Real>
void Grid<Real>::in_waves(int lane) {
    constexpr int patience = 1000;
    Size const size = shape_.size;
    std::ptrdiff_t const span = size.z + reach * (plan_.depth - 1), begun = passes_ * span;
    for (std::ptrdiff_t tile = lane; tile < tiles(); tile += plan_.lanes) {
        auto& mine = progress_[static_cast<std::size_t>(tile)].planes;
        for (std::ptrdiff_t wave = 0; wave < span; ++wave) {
            if (tile > 0) {
                auto const& before = progress_[static_cast<std::size_t>(tile - 1)].planes;
                for (int tries = 0; before.load(std::memory_order_acquire) <= begun + wave; ++tries)
                    if (tries > patience) std::this_thread::yield();
            }
            for (std::ptrdiff_t step = 0; step < plan_.depth; ++step) {
                std::ptrdiff_t const z = wave - reach * step, aside = reach * step;
                std::ptrdiff_t const y = std::max<std::ptrdiff_t>(0, tile * plan_.tile - aside);
                std::ptrdiff_t const y_end = std::min(size.y, (tile + 1) * plan_.tile - aside);
                if (z >= 0 && z < size.z && y < y_end) make(step, y, y_end, z);
            }
            mine.store(begun + wave + 1, std::memory_order_release);
        }
    }
}

template class Grid<float>;
template class Grid<double>;

// In one step: nine planes of a level, and half of the second cache for them. In several: of two levels and of the
// factor all planes from the first step's to the last one's, in half of the second cache or a lane's quarter of the
// third.
std::ptrdiff_t rows_that_fit(Size size, std::size_t element_bytes, Plan plan, std::ptrdiff_t l2_bytes,
                             std::ptrdiff_t l3_bytes) {
    constexpr std::ptrdiff_t around = 2 * reach + 1, least = 8;
    // Blocks are assigned to the lanes round-robin: each lane needs some.
    std::ptrdiff_t const most =
        plan.depth == 1 || plan.lanes == 1 ? 64 : std::clamp<std::ptrdiff_t>(size.y / (4 * plan.lanes), least, 64);
    std::ptrdiff_t const row = size.x * static_cast<std::ptrdiff_t>(element_bytes), waves = reach * (plan.depth - 1);
    std::ptrdiff_t const planes = plan.depth == 1 ? around : 2 * (waves + around) + waves + 1;
    std::ptrdiff_t const room =
        plan.depth == 1 ? l2_bytes / 2 : std::max(l2_bytes / 2, l3_bytes / (4 * std::ptrdiff_t{plan.lanes}));
    return std::clamp(room / (planes * row), least, most);
}

}  // namespace stencil
