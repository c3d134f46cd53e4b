// The two exact static solvers: by sums over classes, and by enumeration.
#include "engine/solvers.hpp"
#include "engine/uniform.hpp"
#include "engine/work.hpp"

namespace octant::network {

namespace {

constexpr double piece_s = 0.1;  // of a source's targets, so that work can be watched

constexpr char const* fewer =
    "a smaller size, fewer flows, or uniform traffic with a routing that --solver class supports";

// Targets of one source that take about `piece_s`, from a few of them that are not counted.
std::size_t piece(Topology const& topology, Routing const& routing, std::vector<Node> const& active) {
    std::vector<double> scratch(at(topology.links()), 0.0);
    std::span<Node const> const few(active.data(), std::min<std::size_t>(active.size(), 4));
    auto const begun = std::chrono::steady_clock::now();
    routing.add(active.front(), few, 1.0, scratch);
    double const each_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() /
                          static_cast<double>(few.size());
    return each_s > 0 ? static_cast<std::size_t>(std::max(1.0, std::min(1e9, piece_s / each_s))) : active.size();
}

std::vector<double> enumerate_loads(Topology const& topology, Routing const& routing, Traffic const& traffic) {
    std::vector<double> loads(at(topology.links()), 0.0);
    if (traffic.uniform) {
        std::size_t const n = traffic.active.size(), at_once = std::min(n, piece(topology, routing, traffic.active));
        double const each = 1.0 / static_cast<double>(n);
        Work work(static_cast<double>(n) * static_cast<double>(n), fewer);
        for (Node const s : traffic.active) {
            for (std::size_t first = 0; first < n; first += at_once) {
                auto const targets = std::span(traffic.active).subspan(first, std::min(at_once, n - first));
                routing.add(s, targets, each, loads);
                work.advance(static_cast<double>(targets.size()));
            }
        }
        return loads;
    }
    Flows const& flows = traffic.flows;
    constexpr std::size_t check_interval = 64;
    Work work(static_cast<double>(flows.size()), fewer);
    for (std::size_t f = 0; f < flows.size(); ++f) {
        routing.add(flows.from[f], {&flows.to[f], 1}, flows.units[f], loads);
        if (f % check_interval == check_interval - 1) work.advance(check_interval);
    }
    return loads;
}

std::optional<Solution> by_groups(Topology const& topology, RoutingChoice const& choice, Health const& health,
                                  Traffic const& traffic, UnitCost const& shape) {
    if (!traffic.uniform || !health.scale.empty()) return std::nullopt;
    auto groups = topology.uniform(choice, traffic.active);
    if (!groups) return std::nullopt;
    Solution answer{.solver = "class aggregation", .groups = std::move(*groups)};
    rank(topology, health, shape, answer);
    return answer;
}

std::optional<Solution> by_sums(Topology const& topology, Health const& health, Routing const& routing,
                                Traffic const& traffic, UnitCost const& shape) {
    if (!traffic.uniform) return std::nullopt;
    auto loads = uniform_loads(topology, routing, traffic.active);
    if (!loads) return std::nullopt;
    Solution answer{.solver = "class aggregation", .loads = std::move(*loads)};
    rank(topology, health, shape, answer);
    return answer;
}

}  // namespace

Solution solve_by_class(Topology const& topology, RoutingChoice const& choice, Health const& health,
                        Routing const& routing, Traffic const& traffic, UnitCost const& shape) {
    check_traffic(traffic, topology);
    if (auto answer = by_groups(topology, choice, health, traffic, shape)) return std::move(*answer);
    if (auto answer = by_sums(topology, health, routing, traffic, shape)) return std::move(*answer);
    throw std::invalid_argument(
        "cannot use --solver class (the traffic is not uniform, or the routing has no totals per class); try --solver "
        "enumeration");
}

Solution solve_by_enumeration(Topology const& topology, Health const& health, Routing const& routing,
                              Traffic const& traffic, UnitCost const& shape) {
    check_traffic(traffic, topology);
    Solution answer{.solver = "enumeration", .loads = enumerate_loads(topology, routing, traffic)};
    rank(topology, health, shape, answer);
    return answer;
}

Solution solve_every_link(Topology const& topology, Health const& health, Routing const& routing,
                          Traffic const& traffic, UnitCost const& shape) {
    check_traffic(traffic, topology);
    if (auto answer = by_sums(topology, health, routing, traffic, shape)) return std::move(*answer);
    return solve_by_enumeration(topology, health, routing, traffic, shape);
}

Solution solve_exactly(Topology const& topology, RoutingChoice const& choice, Health const& health,
                       Routing const& routing, Traffic const& traffic, UnitCost const& shape) {
    check_traffic(traffic, topology);
    if (auto answer = by_groups(topology, choice, health, traffic, shape)) return std::move(*answer);
    return solve_every_link(topology, health, routing, traffic, shape);
}

}  // namespace octant::network
