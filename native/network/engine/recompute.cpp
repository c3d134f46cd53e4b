#include "engine/recompute.hpp"

#include <map>

#include "engine/detours.hpp"
#include "engine/load_changes.hpp"
#include "engine/uniform.hpp"
#include "engine/work.hpp"
#include "routing/fabric.hpp"

namespace octant::network {

namespace {

constexpr std::size_t max_entries = 1UL << 25;  // of the tables of distances and of traffic: 320 MiB

// For every destination: distance from each vertex, and the traffic that passes the vertex.
struct Routes {
    std::vector<Vertex> targets;
    std::vector<std::uint16_t> hops;
    std::vector<double> passing;
};

using Senders = std::map<Vertex, std::map<Vertex, double>>;  // by the vertex of the destination, then of the source

Senders senders(Topology const& topology, Traffic const& traffic) {
    Senders found;
    if (traffic.uniform) {
        std::map<Vertex, double> nodes;
        for (Node const node : traffic.active) nodes[topology.entry(node)] += 1;
        for (auto const& [target, count] : nodes) {
            auto& row = found[target];
            for (auto const& [source, others] : nodes) {
                if (source != target) row[source] = others * count / static_cast<double>(traffic.active.size());
            }
        }
        return found;
    }
    Flows const& flows = traffic.flows;
    for (std::size_t f = 0; f < flows.size(); ++f) {
        Vertex const source = topology.entry(flows.from[f]), target = topology.entry(flows.to[f]);
        if (source != target && flows.units[f] > 0) found[target][source] += flows.units[f];
    }
    return found;
}

// Injection, ejection and local: no failure of the fabric changes them.
double load_endpoints(Topology const& topology, Traffic const& traffic, std::vector<double>& loads) {
    if (traffic.uniform) {
        octant::network::load_endpoints(topology, traffic.active, loads);
        return static_cast<double>(traffic.active.size());
    }
    double total = 0;
    Flows const& flows = traffic.flows;
    for (std::size_t f = 0; f < flows.size(); ++f) {
        Node const s = flows.from[f], t = flows.to[f];
        total += flows.units[f];
        if (s == t && topology.self() == SelfTraffic::memory) loads[at(topology.local_of(s))] += flows.units[f];
        if (s == t && topology.self() != SelfTraffic::endpoint) continue;
        loads[at(topology.injection_of(s))] += flows.units[f];
        loads[at(topology.ejection_of(t))] += flows.units[f];
    }
    return total;
}

class Healthy {
  public:
    // `wanted` are the links that will fail: of those, the destinations that use them are kept.
    Healthy(Topology const& topology, Traffic const& traffic, UnitCost const& shape, std::vector<LinkId> const& wanted)
        : topology_(topology), fabric_(topology, Health{}), place_(at(topology.links()), -1) {
        for (LinkId const link : wanted) {
            if (link < 0 || place_[at(link)] >= 0) continue;
            place_[at(link)] = static_cast<std::int32_t>(users_.size());
            users_.emplace_back();
        }
        auto const rows = senders(topology, traffic);
        std::size_t const vertices = fabric_.vertices();
        if (vertices * rows.size() > max_entries) {
            throw std::invalid_argument("cannot sweep failures with recomputed routes between " +
                                        std::to_string(rows.size()) +
                                        " nodes (their tables would exceed 320 MiB); try a smaller size, or policy "
                                        "twin, spread or stall");
        }
        loads_ = {capacities(topology, Health{}, shape), std::vector<double>(at(topology.links()), 0.0), {}};
        total_ = load_endpoints(topology, traffic, loads_.loads);
        routes_.hops.resize(vertices * rows.size());
        routes_.passing.assign(vertices * rows.size(), 0.0);
        for (auto const& [target, sources] : rows) {
            routes_.targets.push_back(target);
            route(routes_.targets.size() - 1, sources);
        }
        loads_.rank();
    }

    [[nodiscard]] Fabric const& fabric() const { return fabric_; }
    [[nodiscard]] Topology const& topology() const { return topology_; }
    [[nodiscard]] WholeLoads const& loads() const { return loads_; }
    [[nodiscard]] double total() const { return total_; }
    [[nodiscard]] std::vector<Vertex> const& targets() const { return routes_.targets; }
    // Numbers of the destinations whose traffic crosses a link.
    [[nodiscard]] std::span<std::uint32_t const> users(LinkId link) const { return users_[at(place_[at(link)])]; }
    [[nodiscard]] std::span<std::uint16_t const> hops(std::size_t k) const {
        return std::span(routes_.hops).subspan(k * fabric_.vertices(), fabric_.vertices());
    }
    [[nodiscard]] std::span<double const> passing(std::size_t k) const {
        return std::span(routes_.passing).subspan(k * fabric_.vertices(), fabric_.vertices());
    }

  private:
    void route(std::size_t k, std::map<Vertex, double> const& sources) {
        std::size_t const vertices = fabric_.vertices();
        auto const hops = std::span(routes_.hops).subspan(k * vertices, vertices);
        auto const passing = std::span(routes_.passing).subspan(k * vertices, vertices);
        Vertex const target = routes_.targets[k];
        fabric_.measure(target, hops, order_);
        for (auto const& [source, units] : sources) {
            if (hops[at(source)] == Fabric::unreachable) {
                throw std::invalid_argument(
                    "cannot route all traffic (some nodes are not connected); try `octant model export` to see what "
                    "its links join");
            }
            passing[at(source)] = units;
        }
        fabric_.spread(target, hops, order_, passing, [&](LinkId link, double part) {
            loads_.loads[at(link)] += part;
            if (auto const place = place_[at(link)]; place >= 0) {
                users_[at(place)].push_back(static_cast<std::uint32_t>(k));
            }
        });
    }

    Topology const& topology_;
    Fabric fabric_;
    Routes routes_;
    WholeLoads loads_;
    double total_ = 0;
    std::vector<std::int32_t> place_;  // of a link in `users_`, -1: not wanted
    std::vector<std::vector<std::uint32_t>> users_;
    std::vector<Vertex> order_;
};

}  // namespace

std::vector<Failure> sweep_recomputed(Topology const& topology, Traffic const& traffic, UnitCost const& shape,
                                      std::vector<LinkId> const& links, std::vector<LinkId> const& backs, double left) {
    if (auto alike = sweep_symmetric_failures(topology, traffic, shape, links, backs, left)) return std::move(*alike);
    auto wanted = links;
    wanted.insert(wanted.end(), backs.begin(), backs.end());
    Healthy const healthy(topology, traffic, shape, wanted);
    std::vector<Failure> result(links.size());
    Work work(static_cast<double>(links.size()), "a smaller size, or --policy spread");
#pragma omp parallel
    {
        LoadChanges changes(topology, healthy.loads());
        Detours detours(topology, healthy.fabric(),
                        [&changes](LinkId link, double units) { changes.add(link, units); });
#pragma omp for schedule(dynamic, 16)
        for (std::size_t i = 0; i < links.size(); ++i) {
            if (!work.try_advance(0)) continue;
            detours.cut(links[i], backs[i]);
            double dead = 0;
            for (LinkId const gone : {links[i], backs[i]}) {
                if (left > 0 || gone < 0) continue;
                for (std::uint32_t const k : healthy.users(gone))
                    dead += detours.around(gone, healthy.targets()[k], healthy.hops(k), healthy.passing(k));
            }
            result[i] = changes.tightest(links[i], backs[i], left);
            if (dead > 1e-12 * healthy.total()) result[i] = {links[i], 0, topology.class_of(links[i]), dead};
            work.try_advance();
        }
    }
    work.check();
    return result;
}

}  // namespace octant::network
