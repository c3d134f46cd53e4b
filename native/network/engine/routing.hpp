// Routes from one node to another: a weighted list of links, or one path for one packet.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>

#include "engine/network.hpp"

namespace octant::network {

struct Share {
    LinkId link;
    double part;
};

// The routing that the user selects by name; every topology has a list of names.
struct RoutingChoice {
    std::string name;
    std::string policy = "stall";           // what happens to traffic of a link that is down
    std::map<std::string, double> numbers;  // named numbers: an option of that routing
    std::vector<int> order;                 // dimensions, first to last
    [[nodiscard]] double number(std::string const& key, double otherwise) const {
        auto const found = numbers.find(key);
        return found == numbers.end() ? otherwise : found->second;
    }
};

// A word that is not in a closed list.
struct UnknownWord : std::invalid_argument {
    UnknownWord(std::string const& why, std::string missing, std::vector<std::string_view> const& list)
        : std::invalid_argument(why), word(std::move(missing)), known(list.begin(), list.end()) {}
    std::string word;
    std::vector<std::string> known;
};

[[noreturn]] void refuse_routing(std::string_view topology, RoutingChoice const& choice,
                                 std::vector<std::string_view> const& known);
void require_policy(RoutingChoice const& choice, std::string_view topology, std::vector<std::string_view> const& known);

// The order of the dimensions of a route: as requested, or first to last.
[[nodiscard]] std::vector<int> dimension_order(RoutingChoice const& choice, int dimensions);

// Uniform traffic: every active node sends one unit, spread evenly over all of them.
class UniformTraffic {
  public:
    UniformTraffic(Node nodes, std::vector<Node> const& active) : before_(at(nodes) + 1, 0.0) {
        for (Node const node : active) before_[at(node) + 1] += 1;
        for (std::size_t i = 1; i < before_.size(); ++i) before_[i] += before_[i - 1];
    }
    [[nodiscard]] double total() const { return before_.back(); }
    [[nodiscard]] double at_node(Node node) const { return among(node, 1); }  // 1: active, 0: idle
    // Active nodes of `count` from `first` on.
    [[nodiscard]] double among(Node first, Node count) const { return before_[at(first + count)] - before_[at(first)]; }
    // Sums over groups of `count` nodes.
    [[nodiscard]] std::vector<double> by(Node count) const {
        std::vector<double> sums;
        for (Node first = 0; at(first) + 1 < before_.size(); first += count) sums.push_back(among(first, count));
        return sums;
    }

  private:
    std::vector<double> before_;
};

class Routing {
  public:
    Routing() = default;
    virtual ~Routing() = default;
    Routing(Routing const&) = delete;
    Routing& operator=(Routing const&) = delete;

    // Appends every link that traffic from `s` to `t` uses, endpoints included, with the part of it that each carries.
    virtual void shares(Node s, Node t, std::vector<Share>& out) const = 0;
    // Adds `weight` units from `s` to each of `targets` to the loads.
    virtual void add(Node s, std::span<Node const> targets, double weight, std::span<double> loads) const = 0;
    // Adds what uniform traffic puts on the fabric, from sums over whole routers, supernodes or dimensions; false (and
    // nothing added) where pairs must be enumerated.
    virtual bool add_uniform(UniformTraffic const&, std::span<double>) const { return false; }
    // Gives `sink` the loads of that part of uniform traffic whose routes depend on the health of `link`; false where
    // pairs must be enumerated.
    using Sink = std::function<void(LinkId, double)>;
    virtual bool add_depending(UniformTraffic const&, LinkId, Sink const&) const { return false; }
    // Appends the links of one packet's path in order; `draw` chooses among equals (a counter or a random number).
    virtual void path(Node s, Node t, std::uint64_t draw, std::vector<LinkId>& out) const = 0;
};

// Endpoint links and the two bulk forms from one inlined `visit(s, t, sink)` of the fabric links.
template <class Derived>
class RoutingOf : public Routing {
  public:
    explicit RoutingOf(Topology const& topology) : topology_(topology) {}

    void shares(Node s, Node t, std::vector<Share>& out) const final {
        each(s, t, [&out](LinkId link, double part) { out.push_back({link, part}); });
    }
    void add(Node s, std::span<Node const> targets, double weight, std::span<double> loads) const override {
        double* const to = loads.data();
        for (Node const t : targets) {
            each(s, t, [to, weight](LinkId link, double part) { to[link] += weight * part; });
        }
    }
    void path(Node s, Node t, std::uint64_t draw, std::vector<LinkId>& out) const final {
        if (s == t) {
            each(s, t, [&out](LinkId link, double) { out.push_back(link); });
            return;
        }
        out.push_back(topology_.injection_of(s));
        derived().walk(s, t, draw, [&out](LinkId link) { out.push_back(link); });
        out.push_back(topology_.ejection_of(t));
    }

  private:
    [[nodiscard]] Derived const& derived() const { return static_cast<Derived const&>(*this); }

    template <class Sink>
    void each(Node s, Node t, Sink&& sink) const {
        if (s == t) {
            if (topology_.self() == SelfTraffic::memory) sink(topology_.local_of(s), 1.0);
            if (topology_.self() != SelfTraffic::endpoint) return;
        }
        sink(topology_.injection_of(s), 1.0);
        if (s != t) derived().visit(s, t, sink);
        sink(topology_.ejection_of(t), 1.0);
    }

    Topology const& topology_;
};

// A well mixed 64-bit number from another: the only source of "randomness", so that runs repeat exactly.
constexpr std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

// Routes that follow shortest paths of the surviving links, equally over equals; serves every topology.
[[nodiscard]] std::unique_ptr<Routing> shortest_paths(Topology const& topology, Health const& health);
// Those of the whole network; a pair whose paths are broken takes the shortest ones of the surviving links.
[[nodiscard]] std::unique_ptr<Routing> shortest_paths_with_detours(Topology const& topology, Health const& health);

}  // namespace octant::network
