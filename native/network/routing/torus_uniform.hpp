// Loads of uniform traffic on torus and mesh: sums along lines, and products over dimensions.
#pragma once

#include "engine/routing.hpp"
#include "topology/torus.hpp"

namespace octant::network {

// from[s] × to[t] × units from every node to every other, dimension by dimension.
void add_dimension_ordered(Torus const& net, std::vector<int> const& order, bool split_ties,
                           std::vector<double> const& from, std::vector<double> const& to, double units,
                           std::span<double> loads);

// One unit from every node, spread over all, each hop in any dimension that still needs hops; false where the sums over
// subsets of dimensions would be many.
bool add_random_minimal(Torus const& net, bool split_ties, std::span<double> loads);

}  // namespace octant::network
