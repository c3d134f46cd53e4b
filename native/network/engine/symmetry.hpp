// Loads of uniform traffic over shortest paths, for networks with known symmetric destinations and cables.
#pragma once

#include "routing/fabric.hpp"

namespace octant::network {

// Adds the loads of the fabric, computed for one destination of each kind. Returns false, and adds nothing, if no kinds
// are known.
bool add_symmetric_loads(Topology const& topology, Fabric const& fabric, std::vector<Node> const& active,
                         std::span<double> loads);

}  // namespace octant::network
