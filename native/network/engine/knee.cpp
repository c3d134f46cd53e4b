// Soft knees: what queues with few packets in flight, or several near-equal limits, leave of the hard minimum.
#include <algorithm>
#include <cmath>

#include "engine/solvers.hpp"

namespace octant::network {

double closed_queue_rate(Topology const& topology, Health const& health, UnitCost const& shape, Solution const& answer,
                         double senders, double window) {
    if (!(senders >= 1) || !(window > 0))
        throw std::invalid_argument(
            "cannot use the solver queue without senders or with an empty window; try --window 1");
    struct Station {
        double demand_s;  // service time of all visits of one round at one link
        double links;
    };
    std::vector<Station> stations;
    double latency_s = 0;  // of one round, summed over all senders
    auto const visit = [&](LinkId link, double load, double links) {
        auto const& kind = topology.classes()[at(topology.class_of(link))];
        double const units_per_s = limit_of(kind, link < topology.fabric(), shape).units_per_s * health.left(link);
        double const demand_s = load / units_per_s;
        if (stations.empty() || stations.back().demand_s != demand_s) stations.push_back({demand_s, 0});
        stations.back().links += links;  // one for all neighbours in the list that are alike
        latency_s += load * links * static_cast<double>(kind.latency_ps) * 1e-12;
    };
    for (auto const& group : answer.groups) visit(group.link, group.load, group.links);
    for (std::size_t link = 0; link < answer.loads.size(); ++link) {
        if (answer.loads[link] > 0) visit(static_cast<LinkId>(link), answer.loads[link], 1);
    }
    double const customers = senders * window;
    double const seen = (customers - 1) / customers;
    // Little's law per link, with what an arriving packet finds: the queue, of which the packet in service is half
    // done.
    auto const in_flight = [&](double rounds_per_s) {
        double total = rounds_per_s * latency_s;
        for (auto const& [demand_s, links] : stations) {
            double const busy = rounds_per_s * demand_s;
            total += links * busy * (1 - 0.5 * seen * busy) / (1 - seen * busy);
        }
        return total;
    };
    double alone_s = latency_s;  // of one round without any queueing: more than `customers` never get through in that
    for (auto const& [demand_s, links] : stations) alone_s += links * demand_s;
    if (alone_s == 0) return unlimited;
    double high = customers / alone_s;
    for (auto const& station : stations) {
        if (seen > 0) high = std::min(high, 1 / (seen * station.demand_s));  // queues are infinite there
    }
    double low = 0;
    for (int halving = 0; halving < 200 && low < high; ++halving) {
        double const middle = 0.5 * (low + high);
        if (middle == low || middle == high) break;
        (in_flight(middle) < customers ? low : high) = middle;
    }
    return low;
}

double soft_minimum_rate(Solution const& answer, double exponent) {
    if (!(exponent > 0))
        throw std::invalid_argument("cannot compute a soft minimum (the exponent is not positive); try 8");
    double sum = 0;
    double endpoint = unlimited;
    for (auto const& bottleneck : answer.bottlenecks) {
        if (bottleneck.link_class < first_fabric_class) {
            endpoint = std::min(endpoint, bottleneck.rounds_per_s);
        } else {
            sum += std::pow(bottleneck.rounds_per_s / answer.rounds_per_s, -exponent);
        }
    }
    if (std::isfinite(endpoint)) sum += std::pow(endpoint / answer.rounds_per_s, -exponent);
    return sum > 0 ? answer.rounds_per_s * std::pow(sum, -1 / exponent) : answer.rounds_per_s;
}

}  // namespace octant::network
