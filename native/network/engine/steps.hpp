// Cost of the steps of a program of synchronised messages.
#pragma once

#include "engine/network.hpp"
#include "engine/routing.hpp"

namespace octant::network {

// What a step costs under LogGP, apart from software: a message of u units takes latency + 2 o + (u - 1) G, and the
// fullest link its load over its capacity.
struct StepPrice {
    double latency_s = 0;       // of the longest route whose latency is known
    Node untimed_from = -1;     // nodes of a message whose route has no latency; -1: all have one
    Node untimed_to = -1;       //
    std::int64_t messages = 0;  // sent and received by the rank that has most of them
    double largest = 0;         // units of the largest message
    double inside = -1;         // of the largest within a node; -1: there is none
    double between = -1;        // of the largest between two
    double sent = 0;            // units that one rank sends, at most
    double wire_s = 0;          // of the fullest link
    LinkId link = -1;           // the fullest
};

// Prices step after step.
class StepPricer {
  public:
    // `node_of_rank`: where the ranks are that messages name.
    StepPricer(Topology const& topology, Health const& health, Routing const& routing, std::vector<Node> node_of_rank,
               UnitCost const& shape);

    void send(int from, int to, double units);
    // The price of what was sent since the last call.
    [[nodiscard]] StepPrice finish();

  private:
    struct Traffic {  // of one rank
        std::int64_t messages = 0;
        double sent = 0;
    };

    void count(int rank, double sent);

    Topology const& topology_;
    Routing const& routing_;
    std::vector<Node> node_of_rank_;
    std::vector<double> capacity_;   // units per second of every link
    std::vector<double> latency_s_;  // by link class
    StepPrice price_;
    std::vector<double> loads_;  // of the present step
    std::vector<LinkId> used_;   // by it
    std::vector<Traffic> traffic_;
    std::vector<int> busy_;  // ranks that it has messages of
    std::vector<Share> shares_;
};

}  // namespace octant::network
