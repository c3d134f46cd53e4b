// Uniform traffic from sums over routers, supernodes and dimensions instead of pairs.
#pragma once

#include "engine/network.hpp"
#include "engine/routing.hpp"
#include "engine/traffic.hpp"

namespace octant::network {

// Injection, ejection and local: a node sends as many units to all others as it gets.
void load_endpoints(Topology const& topology, std::vector<Node> const& active, std::span<double> loads);

// Loads of every link under uniform traffic, or nothing where the routing must enumerate.
[[nodiscard]] std::optional<std::vector<double>> uniform_loads(Topology const& topology, Routing const& routing,
                                                               std::vector<Node> const& active);

}  // namespace octant::network
