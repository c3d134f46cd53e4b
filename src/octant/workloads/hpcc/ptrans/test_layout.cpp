// Tests the largest parcel against all pairs of places, and on grids with too many pairs for that.
#include "layout.hpp"

#include "check.hpp"

#include <algorithm>

namespace {

using ptrans::Grid;
using ptrans::Layout;

std::int64_t over_all_pairs(Grid grid, Layout const& layout, std::int64_t edge, std::int64_t bytes) {
    std::int64_t most = 0;
    for (int number = 0; number < grid.ranks(); ++number)
        for (ptrans::Partners const& partners : schedule(grid, grid.place(number)))
            most = std::max(
                most, ptrans::Share(layout, grid.place(number), grid.place(partners.to), edge, bytes).max_elements());
    return most;
}

}  // namespace

int main() {
    octant::Checks checks;
    for (Grid const grid : {Grid{1, 1}, Grid{1, 3}, Grid{2, 2}, Grid{2, 3}, Grid{4, 2}, Grid{4, 6}})
        for (std::int64_t const n : {1, 5, 64, 101, 130})
            for (std::int64_t const block : {1, 7, 16, 200})
                for (std::int64_t const edge : {5, 16, 64})
                    for (std::int64_t const bytes : {8, 1000, 1 << 18}) {
                        Layout const layout(n, block, grid);
                        checks.that(max_in_a_parcel(layout, edge, bytes) == over_all_pairs(grid, layout, edge, bytes),
                                    grid.text() + ", n=" + std::to_string(n) + ", block=" + std::to_string(block) +
                                        ", edge=" + std::to_string(edge) + ", bytes=" + std::to_string(bytes));
                    }
    // 10^8 pairs of places. Of each remainder modulo 9,900 there is one block, and all are whole tiles of 64 x 64.
    Grid const wide{99, 100};
    checks.that(max_in_a_parcel(Layout(std::int64_t{64} * 9'900, 64, wide), 64, 1 << 18) == 64 * 64, "one tile");
    checks.that(max_in_a_parcel(Layout(std::int64_t{67} * 9'900 + 1, 1, wide), 64, 8 * 400) == 400,
                "of 68 x 68 tiles of one entry");
    return checks.result();
}
