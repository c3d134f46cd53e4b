// Loads, latencies and messages of one step at a time.
#include "engine/steps.hpp"

#include <algorithm>
#include <utility>

#include "engine/traffic.hpp"

namespace octant::network {

StepPricer::StepPricer(Topology const& topology, Health const& health, Routing const& routing,
                       std::vector<Node> node_of_rank, UnitCost const& shape)
    : topology_(topology),
      routing_(routing),
      node_of_rank_(std::move(node_of_rank)),
      capacity_(capacities(topology, health, shape)),
      loads_(capacity_.size(), 0.0),
      traffic_(node_of_rank_.size()) {
    check_traffic({.flows = {node_of_rank_, node_of_rank_, std::vector<double>(node_of_rank_.size())}}, topology);
    for (auto const& kind : topology.classes()) latency_s_.push_back(1e-12 * static_cast<double>(kind.latency_ps));
}

void StepPricer::count(int rank, double sent) {
    Traffic& traffic = traffic_[at(rank)];
    if (traffic.messages == 0) busy_.push_back(rank);
    traffic.messages += 1;
    traffic.sent += sent;
    price_.messages = std::max(price_.messages, traffic.messages);
    price_.sent = std::max(price_.sent, traffic.sent);
}

void StepPricer::send(int from, int to, double units) {
    if (from < 0 || to < 0 || at(std::max(from, to)) >= node_of_rank_.size())
        throw std::invalid_argument("cannot send between ranks " + std::to_string(from) + " and " + std::to_string(to) +
                                    " (" + std::to_string(node_of_rank_.size()) + " are placed)");
    count(from, units);
    count(to, 0);
    price_.largest = std::max(price_.largest, units);
    Node const s = node_of_rank_[at(from)], t = node_of_rank_[at(to)];
    double& largest_there = s == t ? price_.inside : price_.between;
    largest_there = std::max(largest_there, units);
    shares_.clear();
    routing_.shares(s, t, shares_);
    double route_s = 0;  // mean over the routes of one message
    for (auto const& share : shares_) {
        if (loads_[at(share.link)] == 0) used_.push_back(share.link);
        loads_[at(share.link)] += units * share.part;
        route_s += share.part * latency_s_[at(topology_.class_of(share.link))];
    }
    price_.latency_s = std::max(price_.latency_s, route_s);
    if (route_s == 0 && price_.untimed_from < 0) {
        price_.untimed_from = s;
        price_.untimed_to = t;
    }
}

StepPrice StepPricer::finish() {
    for (LinkId const link : used_) {
        double const load = loads_[at(link)];
        if (load > 0 && load / capacity_[at(link)] > price_.wire_s) {
            price_.wire_s = load / capacity_[at(link)];
            price_.link = link;
        }
        loads_[at(link)] = 0;
    }
    used_.clear();
    for (int const rank : busy_) traffic_[at(rank)] = {};
    busy_.clear();
    return std::exchange(price_, {});
}

}  // namespace octant::network
