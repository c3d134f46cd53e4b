// The one answer that every solver gives.
#pragma once

#include "engine/network.hpp"
#include "engine/routing.hpp"
#include "engine/traffic.hpp"

namespace octant::network {

// The link of one class that holds the pattern back most.
struct Bottleneck {
    int link_class;
    LinkId link;
    double load;          // units per round of the pattern
    double capacity;      // units per second
    double rounds_per_s;  // capacity / load
    bool packets;         // bound by packets, not bytes
    double links;         // that many links of the class are loaded as much (to one part in a billion)
};

struct Solution {
    std::string solver;
    double rounds_per_s = 0;                // how often per second the whole pattern is sent
    std::vector<Bottleneck> bottlenecks{};  // one per loaded class, tightest first
    std::vector<LoadGroup> groups{};        // loads by counting; empty when `loads` holds them link by link
    std::vector<double> loads{};            // units per round on every link
    std::vector<double> rates{};            // units per second of every flow, where flows have rates of their own
    double stalled = 0;                     // part of the units whose route is dead
    std::int64_t events = 0;                // packets × hops, where packets were simulated
};

// Puts bottlenecks and the rate of the hard minimum into `answer`, from its loads or groups.
void rank(Topology const& topology, Health const& health, UnitCost const& shape, Solution& answer);

// Composition of the load of a link: by relation of sender and receiver, position on the route, and job.
struct Cause {
    std::string relation;
    int hop;  // place on the route: 0 = injection, 1 = first fabric link; -1: rare, not found
    int job;
    double units;  // per round
};
[[nodiscard]] std::vector<Cause> causes(Topology const& topology, Routing const& routing, Traffic const& traffic,
                                        LinkId link);

}  // namespace octant::network
