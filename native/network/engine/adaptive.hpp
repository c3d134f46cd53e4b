// Ideal adaptive routing: every flow may be split between two routings with full information.
#pragma once

#include "engine/solution.hpp"

namespace octant::network {

struct Adaptive {
    Solution answer;          // loads and rate of the best split found: a rate that can be reached
    double max_rounds_per_s;  // no split reaches more (duality)
    double elsewhere;         // part of the units that takes the second way
};

// Splits flows between `first` and `second` so that the fullest link is as empty as possible: Frank-Wolfe on a p-norm
// of the utilisations with growing p. Every round also gives a bound that no split can beat.
[[nodiscard]] Adaptive solve_adaptive(Topology const& topology, Health const& health, Routing const& first,
                                      Routing const& second, Traffic const& traffic, UnitCost const& shape, int rounds);

}  // namespace octant::network
