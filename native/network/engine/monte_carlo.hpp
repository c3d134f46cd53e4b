// N-k: many random sets of failures, each solved by itself.
#pragma once

#include "engine/solvers.hpp"

namespace octant::network {

// Rounds per second after `count` random links of `links` are left with `left` of their capacity, `trials` times. The
// result depends on the seed only, not on the number of threads. NaN: some traffic has no path left.
[[nodiscard]] std::vector<double> fail_at_random(Topology const& topology, RoutingChoice const& choice,
                                                 Traffic const& traffic, UnitCost const& shape,
                                                 std::vector<LinkId> const& links, int count, double left, int trials,
                                                 std::uint64_t seed);

// Rounds per second of each traffic by itself.
[[nodiscard]] std::vector<double> solve_each(Topology const& topology, Health const& health, Routing const& routing,
                                             std::vector<Traffic> const& traffics, UnitCost const& shape);

}  // namespace octant::network
