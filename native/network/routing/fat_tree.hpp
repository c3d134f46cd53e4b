// Routes on the fat tree: D-mod-k, S-mod-k, ECMP, striped over all planes.
#pragma once

#include "engine/routing.hpp"
#include "topology/fat_tree.hpp"

namespace octant::network {

[[nodiscard]] std::unique_ptr<Routing> route_fat_tree(FatTree const& net, RoutingChoice const& choice,
                                                      Health const& health);

}  // namespace octant::network
