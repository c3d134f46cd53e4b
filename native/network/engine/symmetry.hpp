// Shortest paths of uniform traffic on a healthy network of which it is known what is alike.
#pragma once

#include "routing/fabric.hpp"

namespace octant::network {

// Adds the loads of the fabric, from one destination of each kind; false (and nothing added) where no kinds are known.
bool add_alike(Topology const& topology, Fabric const& fabric, std::vector<Node> const& active,
               std::span<double> loads);

}  // namespace octant::network
