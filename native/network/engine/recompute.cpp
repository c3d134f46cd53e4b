#include "engine/recompute.hpp"

#include <algorithm>
#include <map>
#include <queue>

#include "engine/load_changes.hpp"
#include "engine/uniform.hpp"
#include "engine/work.hpp"
#include "routing/fabric.hpp"

namespace octant::network {

namespace {

constexpr std::size_t most_entries = 1UL << 25;  // of the tables of distances and of traffic: 320 MiB

// Of every destination: hops left from each vertex, and the traffic that passes it.
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
        if (vertices * rows.size() > most_entries) {
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
                throw std::invalid_argument("cannot route all traffic (no path joins some of its nodes)");
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

// One failure at a time; every thread has its own.
class Detours {
  public:
    explicit Detours(Healthy const& healthy)
        : healthy_(healthy),
          fabric_(healthy.fabric()),
          changes_(healthy.topology(), healthy.loads()),
          fresh_(fabric_.vertices(), 0),
          role_(fabric_.vertices(), Role::untouched),
          queued_(fabric_.vertices(), 0),
          delta_(fabric_.vertices(), 0.0) {}

    Failure fail(LinkId link, LinkId back, double left) {
        link_ = link;
        back_ = back;
        double dead = 0;
        for (LinkId const gone : {link, back}) {
            if (left > 0 || gone < 0) continue;
            Ends const ends = healthy_.topology().ends(gone);
            for (std::uint32_t const k : healthy_.users(gone)) dead += detour(k, ends);
        }
        Failure failure = changes_.tightest(link, back, left);
        if (dead > 1e-12 * healthy_.total()) {
            failure.rounds_per_s = 0;
            failure.link_class = healthy_.topology().class_of(link);
        }
        return failure;
    }

  private:
    enum class Role : char { untouched, split, further };  // split anew; further from the destination than before
    using Far = std::pair<std::uint16_t, Vertex>;

    // Routes of one destination that cross the link between `ends`, around it; returns the units that no way is left
    // for.
    double detour(std::size_t k, Ends ends) {
        target_ = healthy_.targets()[k];
        hops_ = healthy_.hops(k);
        passing_ = healthy_.passing(k);
        find_further(ends.from);
        measure_further();
        withdraw();
        double const dead = send();
        for (Vertex const v : concerned_) role_[at(v)] = Role::untouched;
        concerned_.clear();
        return dead;
    }

    [[nodiscard]] bool down(LinkId link) const { return link == link_ || link == back_; }
    [[nodiscard]] bool was_nearer(Vertex from, Vertex to) const {
        return hops_[at(to)] + 1 == hops_[at(from)] && fabric_.leads(to, target_);
    }
    [[nodiscard]] std::uint16_t now(Vertex v) const {
        return role_[at(v)] == Role::further ? fresh_[at(v)] : hops_[at(v)];
    }
    [[nodiscard]] bool is_nearer(Vertex from, Fabric::Hop const& hop) const {
        return !down(hop.link) && now(hop.to) != Fabric::unreachable && now(hop.to) + 1 == now(from) &&
               fabric_.leads(hop.to, target_);
    }
    void concern(Vertex v, Role role) {
        if (role_[at(v)] == Role::untouched) concerned_.push_back(v);
        role_[at(v)] = role;
    }

    // Who lost every nearer neighbour, from near to far; who lost some splits anew.
    void find_further(Vertex first) {
        std::vector<Vertex>& line = line_;
        line.clear();
        auto const judge = [&](Vertex v) {
            if (role_[at(v)] == Role::further) return;
            bool const kept = std::ranges::any_of(fabric_.out_of(v), [&](Fabric::Hop const& hop) {
                return !down(hop.link) && was_nearer(v, hop.to) && role_[at(hop.to)] != Role::further;
            });
            concern(v, kept ? Role::split : Role::further);
            if (!kept) line.push_back(v);
        };
        judge(first);
        for (std::size_t head = 0; head < line.size(); ++head) {
            Vertex const v = line[head];
            for (auto const& hop : fabric_.into(v)) {
                if (hop.to != target_ && was_nearer(hop.to, v)) judge(hop.to);
            }
        }
    }

    void measure_further() {
        std::priority_queue<Far, std::vector<Far>, std::greater<>> nearest;
        for (Vertex const v : line_) {
            std::uint16_t best = Fabric::unreachable;
            for (auto const& hop : fabric_.out_of(v)) {
                if (down(hop.link) || role_[at(hop.to)] == Role::further || !fabric_.leads(hop.to, target_)) continue;
                if (hops_[at(hop.to)] == Fabric::unreachable) continue;
                best = std::min(best, static_cast<std::uint16_t>(hops_[at(hop.to)] + 1));
            }
            fresh_[at(v)] = best;
            if (best != Fabric::unreachable) nearest.emplace(best, v);
        }
        while (!nearest.empty()) {
            auto const [away, v] = nearest.top();
            nearest.pop();
            if (away > fresh_[at(v)] || !fabric_.leads(v, target_)) continue;
            for (auto const& hop : fabric_.into(v)) {
                if (down(hop.link) || role_[at(hop.to)] != Role::further || fresh_[at(hop.to)] <= away + 1) continue;
                fresh_[at(hop.to)] = static_cast<std::uint16_t>(away + 1);
                nearest.emplace(fresh_[at(hop.to)], hop.to);
            }
        }
    }

    // Takes back what the concerned vertices sent on.
    void withdraw() {
        for (Vertex const v : concerned_) {
            enqueue(v);
            double const units = passing_[at(v)];
            if (units == 0) continue;
            auto const out = fabric_.out_of(v);
            auto const nearer = [&](Fabric::Hop const& hop) { return was_nearer(v, hop.to); };
            forward(out, nearer, -units);
        }
    }

    // Sends on again, from far to near; what passes other vertices changes by what has come to them.
    double send() {
        double dead = 0;
        while (!farthest_.empty()) {
            Vertex const v = farthest_.top().second;
            farthest_.pop();
            queued_[at(v)] = 0;
            double const change = delta_[at(v)];
            delta_[at(v)] = 0;
            if (v == target_) continue;
            double const units = role_[at(v)] == Role::untouched ? change : passing_[at(v)] + change;
            if (now(v) == Fabric::unreachable) {
                dead += units;
            } else if (units != 0) {
                forward(fabric_.out_of(v), [&](Fabric::Hop const& hop) { return is_nearer(v, hop); }, units);
            }
        }
        return dead;
    }

    template <class Nearer>
    void forward(std::span<Fabric::Hop const> out, Nearer const& nearer, double units) {
        double const part = units / static_cast<double>(std::ranges::count_if(out, nearer));
        for (auto const& hop : out) {
            if (!nearer(hop)) continue;
            changes_.add(hop.link, part);
            delta_[at(hop.to)] += part;
            enqueue(hop.to);
        }
    }

    void enqueue(Vertex v) {
        if (queued_[at(v)]) return;
        queued_[at(v)] = 1;
        farthest_.emplace(now(v), v);
    }

    Healthy const& healthy_;
    Fabric const& fabric_;
    LoadChanges changes_;
    LinkId link_ = -1, back_ = -1;
    Vertex target_ = 0;
    std::span<std::uint16_t const> hops_;
    std::span<double const> passing_;
    std::vector<std::uint16_t> fresh_;
    std::vector<Role> role_;
    std::vector<Vertex> concerned_, line_;
    std::vector<char> queued_;
    std::vector<double> delta_;
    std::priority_queue<Far> farthest_;
};

}  // namespace

std::vector<Failure> sweep_recomputed(Topology const& topology, Traffic const& traffic, UnitCost const& shape,
                                      std::vector<LinkId> const& links, std::vector<LinkId> const& backs, double left) {
    auto wanted = links;
    wanted.insert(wanted.end(), backs.begin(), backs.end());
    Healthy const healthy(topology, traffic, shape, wanted);
    std::vector<Failure> result(links.size());
    Work work(static_cast<double>(links.size()), "a smaller size, or --policy spread");
#pragma omp parallel
    {
        Detours detours(healthy);
#pragma omp for schedule(dynamic, 16)
        for (std::size_t i = 0; i < links.size(); ++i) {
            if (!work.go_on(0)) continue;
            result[i] = detours.fail(links[i], backs[i], left);
            work.go_on();
        }
    }
    work.check();
    return result;
}

}  // namespace octant::network
