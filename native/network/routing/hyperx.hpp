// Routes on the HyperX: dimension by dimension, and Valiant.
#pragma once

#include "engine/routing.hpp"
#include "topology/hyperx.hpp"

namespace octant::network {

[[nodiscard]] std::unique_ptr<Routing> route_hyperx(HyperX const& net, RoutingChoice const& choice,
                                                    Health const& health);

}  // namespace octant::network
