// Routes on the dragonfly: minimal and Valiant.
#pragma once

#include "engine/routing.hpp"
#include "topology/dragonfly.hpp"

namespace octant::network {

[[nodiscard]] std::unique_ptr<Routing> route_dragonfly(Dragonfly const& net, RoutingChoice const& choice,
                                                       Health const& health);

}  // namespace octant::network
