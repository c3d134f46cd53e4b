// The two exact static solvers: by symmetry class and by enumeration.
#include "engine/solvers.hpp"

namespace octant::network {

Solution solve_by_class(Topology const& topology, RoutingChoice const& choice, UnitCost const& shape) {
    auto groups = topology.uniform(choice);
    if (!groups) throw std::invalid_argument("cannot count by class (the network is not symmetric under this routing)");
    Solution answer{.solver = "class aggregation", .groups = std::move(*groups)};
    rank(topology, Health{}, shape, answer);
    return answer;
}

std::vector<double> enumerate_loads(Topology const& topology, Routing const& routing, Traffic const& traffic) {
    check_traffic(traffic, topology);
    std::vector<double> loads(at(topology.links()), 0.0);
    if (traffic.uniform) {
        double const each = 1.0 / static_cast<double>(traffic.active.size());
        for (Node const s : traffic.active) routing.add(s, traffic.active, each, loads);
        return loads;
    }
    Flows const& flows = traffic.flows;
    for (std::size_t f = 0; f < flows.size(); ++f) routing.add(flows.from[f], {&flows.to[f], 1}, flows.units[f], loads);
    return loads;
}

Solution solve_by_enumeration(Topology const& topology, Health const& health, Routing const& routing,
                              Traffic const& traffic, UnitCost const& shape) {
    Solution answer{.solver = "enumeration", .loads = enumerate_loads(topology, routing, traffic)};
    rank(topology, health, shape, answer);
    return answer;
}

}  // namespace octant::network
