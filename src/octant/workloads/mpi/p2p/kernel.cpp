// Messages between pairs and neighbours, selected by the knob `pattern`.
#include "p2p.hpp"

#include <iterator>

int main(int argc, char** argv) {
    std::vector<octant::Row> rows;
    for (auto const& family : {p2p::pair_rows, p2p::ring_rows, p2p::window_rows, p2p::halo_rows, p2p::persistent_rows,
                               p2p::type_rows, p2p::matching_rows, p2p::large_rows}) {
        auto more = family();
        rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    return octant::run_rows(argc, argv, "pattern", std::move(rows));
}
