// Traffic: a list of flows, or uniform all-to-all.
#pragma once

#include "engine/network.hpp"

namespace octant::network {

// Flows as parallel arrays. `job` may be empty: one job.
struct Flows {
    std::vector<Node> from{}, to{};
    std::vector<double> units{};
    std::vector<std::uint16_t> job{};

    [[nodiscard]] std::size_t size() const { return from.size(); }
    void push(Node s, Node t, double amount = 1) {
        from.push_back(s);
        to.push_back(t);
        units.push_back(amount);
    }
};

// One unit from every active node, spread evenly over all active nodes; it is listed only when it must be.
struct Traffic {
    bool uniform = false;
    std::vector<Node> active{};  // of uniform traffic
    Flows flows{};               // of all other traffic
};

void check_traffic(Traffic const& traffic, Topology const& topology);
// The flows of uniform traffic written out, the others as they are; refuses more than 50 million and names what to try.
[[nodiscard]] Flows expand_flows(Traffic const& traffic, char const* alternative);

}  // namespace octant::network
