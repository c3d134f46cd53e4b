// Direct and indirect routes of the two-level network.
#pragma once

#include "engine/routing.hpp"
#include "topology/two_level.hpp"

namespace octant::network {

[[nodiscard]] std::unique_ptr<Routing> route_two_level(TwoLevel const& net, RoutingChoice const& choice,
                                                       Health const& health);

}  // namespace octant::network
