// Uniform loads of shapes whose nodes are alike: a few sources speak for all.
#pragma once

#include <functional>

#include "engine/network.hpp"
#include "engine/routing.hpp"

namespace octant::network {

// `sources` are routed to every node; `orbit` numbers fabric links (0 … orbits - 1, counted from the fabric's first) so
// that a symmetry of the network carries each link to any other of its orbit and the sources' images cover all nodes
// evenly.
[[nodiscard]] std::vector<LoadGroup> uniform_from_one(Topology const& topology, RoutingChoice const& choice,
                                                      std::vector<Node> const& sources,
                                                      std::function<int(LinkId)> const& orbit, int orbits);

}  // namespace octant::network
