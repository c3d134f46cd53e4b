#include "engine/traffic.hpp"

#include <cmath>

namespace octant::network {

namespace {

constexpr std::size_t max_flows = 50'000'000;

void require_node(Node node, Topology const& topology) {
    if (node >= 0 && node < topology.nodes()) return;
    throw std::invalid_argument("cannot send to or from node " + std::to_string(node) + " (the network has nodes 0 … " +
                                std::to_string(topology.nodes() - 1) + "); try a larger network or another placement");
}

}  // namespace

void check_traffic(Traffic const& traffic, Topology const& topology) {
    if (traffic.uniform) {
        if (traffic.active.empty()) throw std::invalid_argument("cannot send all to all (no node is active)");
        for (Node const node : traffic.active) require_node(node, topology);
        return;
    }
    Flows const& flows = traffic.flows;
    if (flows.to.size() != flows.size() || flows.units.size() != flows.size() ||
        (!flows.job.empty() && flows.job.size() != flows.size())) {
        throw std::invalid_argument("cannot read the flows (their columns differ in length)");
    }
    for (std::size_t f = 0; f < flows.size(); ++f) {
        require_node(flows.from[f], topology);
        require_node(flows.to[f], topology);
        if (!(flows.units[f] >= 0) || std::isinf(flows.units[f])) {
            throw std::invalid_argument("cannot send a negative or unbounded amount (flow " + std::to_string(f) +
                                        "); try 0 bytes or more");
        }
    }
}

Flows expand_flows(Traffic const& traffic, char const* alternative) {
    if (!traffic.uniform) return traffic.flows;
    std::size_t const n = traffic.active.size();
    if (n * n > max_flows) {
        throw std::invalid_argument("cannot write out all-to-all traffic of " + std::to_string(n) +
                                    " nodes (more than 50 million flows); try " + alternative);
    }
    Flows flows;
    flows.from.reserve(n * n);
    flows.to.reserve(n * n);
    for (Node const s : traffic.active) {
        flows.from.insert(flows.from.end(), n, s);
        flows.to.insert(flows.to.end(), traffic.active.begin(), traffic.active.end());
    }
    flows.units.assign(n * n, 1.0 / static_cast<double>(n));
    return flows;
}

}  // namespace octant::network
