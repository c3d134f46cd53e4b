// Routes on torus and mesh: dimension by dimension, or any productive dimension with equal chance.
#pragma once

#include "engine/routing.hpp"
#include "topology/torus.hpp"

namespace octant::network {

[[nodiscard]] std::unique_ptr<Routing> route_torus(Torus const& net, RoutingChoice const& choice, Health const& health);

}  // namespace octant::network
