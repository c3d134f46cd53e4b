// Step programs under LogGP: each step costs latency, overheads, the processor's gap per byte, and the fullest link.
#include "engine/steps.hpp"

#include <algorithm>

namespace octant::network {

Solution solve_steps(Topology const& topology, Health const& health, Routing const& routing,
                     std::vector<Flows> const& steps, UnitCost const& shape, LogGp const& costs,
                     std::vector<double>& step_s) {
    auto const capacity = capacities(topology, health, shape);
    Solution answer{.solver = "LogGP"};
    answer.loads.assign(at(topology.links()), 0.0);
    step_s.clear();
    std::vector<double> loads(capacity.size(), 0.0);
    std::vector<LinkId> used;
    std::vector<Share> shares;
    for (Flows const& flows : steps) {
        check_traffic({.flows = flows}, topology);
        double latency_s = 0, most_units = 0;
        for (std::size_t f = 0; f < flows.size(); ++f) {
            shares.clear();
            routing.shares(flows.from[f], flows.to[f], shares);
            double route_s = 0;  // mean over the routes of one message
            for (auto const& share : shares) {
                if (loads[at(share.link)] == 0) used.push_back(share.link);
                loads[at(share.link)] += flows.units[f] * share.part;
                route_s += share.part * 1e-12 *
                           static_cast<double>(topology.classes()[at(topology.class_of(share.link))].latency_ps);
            }
            latency_s = std::max(latency_s, route_s);
            most_units = std::max(most_units, flows.units[f]);
        }
        double wire_s = 0;
        for (LinkId const link : used) {
            if (loads[at(link)] > 0) wire_s = std::max(wire_s, loads[at(link)] / capacity[at(link)]);
            answer.loads[at(link)] += loads[at(link)];
            loads[at(link)] = 0;
        }
        used.clear();
        bool const empty = flows.size() == 0;
        double const gap_s = std::max(0.0, most_units - 1) * costs.gap_s_per_unit;
        step_s.push_back(empty ? 0 : latency_s + 2 * costs.overhead_s + gap_s + wire_s);
    }
    rank(topology, health, shape, answer);
    double total_s = 0;
    for (double const one_s : step_s) total_s += one_s;
    answer.rounds_per_s = total_s > 0 ? 1 / total_s : unlimited;
    return answer;
}

}  // namespace octant::network
