#include "engine/uniform.hpp"

namespace octant::network {

void load_endpoints(Topology const& topology, std::vector<Node> const& active, std::span<double> loads) {
    double const n = static_cast<double>(active.size());
    double const away = topology.self() == SelfTraffic::endpoint ? 1.0 : (n - 1) / n;
    for (Node const node : active) {
        loads[at(topology.injection_of(node))] += away;
        loads[at(topology.ejection_of(node))] += away;
        if (topology.self() == SelfTraffic::memory) loads[at(topology.local_of(node))] += 1 / n;
    }
}

std::optional<std::vector<double>> uniform_loads(Topology const& topology, Routing const& routing,
                                                 std::vector<Node> const& active) {
    std::vector<double> loads(at(topology.links()), 0.0);
    if (!routing.add_uniform(UniformTraffic(topology.nodes(), active), loads)) return std::nullopt;
    load_endpoints(topology, active, loads);
    return loads;
}

}  // namespace octant::network
