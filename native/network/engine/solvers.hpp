// The solvers, cheapest first. All give the same Solution.
#pragma once

#include "engine/solution.hpp"

namespace octant::network {

// Loads of uniform traffic from sums over classes of links, routers or dimensions instead of pairs; throws where the
// traffic is not uniform or the routing has no such sums.
[[nodiscard]] Solution solve_by_class(Topology const& topology, RoutingChoice const& choice, Health const& health,
                                      Routing const& routing, Traffic const& traffic, UnitCost const& shape);

// Loads of every pair, one by one.
[[nodiscard]] Solution solve_by_enumeration(Topology const& topology, Health const& health, Routing const& routing,
                                            Traffic const& traffic, UnitCost const& shape);
// The quickest exact way: by class where the routing allows, else by enumeration.
[[nodiscard]] Solution solve_exactly(Topology const& topology, RoutingChoice const& choice, Health const& health,
                                     Routing const& routing, Traffic const& traffic, UnitCost const& shape);
// The same, always with the load of every link.
[[nodiscard]] Solution solve_every_link(Topology const& topology, Health const& health, Routing const& routing,
                                        Traffic const& traffic, UnitCost const& shape);

// Max-min fair rates of all flows at once, by progressive filling.
[[nodiscard]] Solution solve_max_min(Topology const& topology, Health const& health, Routing const& routing,
                                     Traffic const& traffic, UnitCost const& shape);
// Time until all flows are through when rates are max-min fair again after every completion.
[[nodiscard]] Solution solve_fluid(Topology const& topology, Health const& health, Routing const& routing,
                                   Traffic const& traffic, UnitCost const& shape);

// Rounds per second with `window` units in flight per sender, from an answer with loads: approximate mean value
// analysis of the closed queueing network with constant service times, with Schweitzer's estimate of the queue seen on
// arrival.
[[nodiscard]] double closed_queue_rate(Topology const& topology, Health const& health, UnitCost const& shape,
                                       Solution const& answer, double senders, double window);
// (Σ r^-p)^(-1/p) over the bottlenecks of an answer; injection and ejection count once.
[[nodiscard]] double soft_minimum_rate(Solution const& answer, double exponent);

struct PacketOptions {
    double units_per_packet = 1;
    int window = 64;              // packets in flight per sender (uniform) or per flow
    std::int64_t packets = 5000;  // per sender, of uniform traffic
    std::uint64_t seed = 1;
    bool in_order = false;  // a sender's flows of one job go one after the other and share one window
    // A link that fails, and the sender's way to notice: retransmit, ping the path, stop using it.
    LinkId failing = -1;
    std::int64_t fails_ps = 0;
    std::int64_t timeout_ps = 0;
    std::int64_t ping_ps = 0;
    int retries = 1;
};
struct Recovery {
    std::int64_t lost = 0;  // packets that the dead link swallowed
    std::int64_t resent = 0;
    std::int64_t undelivered = 0;   // in the end
    std::int64_t detected_ps = 0;   // failure until the last sender concerned stopped using the path
    std::int64_t recovered_ps = 0;  // failure until the last packet that had been lost was delivered
};
// Packets through queues without bounds, link by link, in whole picoseconds. The last packet of a flow holds what is
// left. Refuses more than 10^8 packets in all, or 4 million in flight.
[[nodiscard]] Solution solve_packets(Topology const& topology, Health const& health, Routing const& routing,
                                     Traffic const& traffic, UnitCost const& shape, PacketOptions const& options,
                                     Recovery& recovery);

// The effect of single failures, each cable (both directions) at a time; loads are patched, not recomputed.
struct Failure {
    LinkId link;
    double rounds_per_s;   // 0: some traffic has no route left
    int link_class;        // of the bottleneck then
    double stalled = 0.0;  // units of a round that have no route left
};
[[nodiscard]] std::vector<Failure> sweep_failures(Topology const& topology, RoutingChoice const& choice,
                                                  Traffic const& traffic, UnitCost const& shape,
                                                  std::vector<LinkId> const& links, double left);

}  // namespace octant::network
