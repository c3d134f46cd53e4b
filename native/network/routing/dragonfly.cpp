// Minimal (the gang of global links round-robin) and Valiant (over a third group, all equally likely).
#include "routing/dragonfly.hpp"

#include <algorithm>

#include "routing/detoured.hpp"
#include "routing/group_detours.hpp"

namespace octant::network {

namespace {

// The global links between two groups that traffic may use.
class Gangs {
  public:
    Gangs(Dragonfly const& net, bool failover, Health const& health)
        : net_(net), health_(health), failover_(failover) {}

    template <class Sink>
    void each(int from, int to, Sink&& sink) const {
        int const gang = net_.gang(from, to);
        int up = 0;
        for (int k = 0; k < gang; ++k) up += usable(from, to, k) ? 1 : 0;
        for (int k = 0; k < gang; ++k) {
            if (up == 0 || usable(from, to, k)) sink(k, 1.0 / (up == 0 ? gang : up));
        }
    }
    [[nodiscard]] int choose(int from, int to, std::uint64_t draw) const {
        int up = 0;
        each(from, to, [&up](int, double) { ++up; });
        auto nth = draw % static_cast<std::uint64_t>(up);
        int chosen = 0;
        each(from, to, [&](int k, double) {
            if (nth-- == 0) chosen = k;
        });
        return chosen;
    }

  private:
    [[nodiscard]] bool usable(int from, int to, int k) const {
        return !failover_ || health_.up(net_.global_link_of(from, to, k));
    }

    Dragonfly const& net_;
    Health const& health_;
    bool failover_;
};

// Active nodes by router and by group.
class Weights {
  public:
    Weights(Dragonfly const& net, UniformTraffic const& all)
        : nodes_(net.shape().nodes), of_group_(nodes_ * net.shape().routers), all_(all) {}
    [[nodiscard]] double total() const { return all_.total(); }
    [[nodiscard]] double router(int r) const { return all_.among(r * nodes_, nodes_); }
    [[nodiscard]] double group(int g) const { return all_.among(g * of_group_, of_group_); }

  private:
    Node nodes_, of_group_;
    UniformTraffic const& all_;
};

class Minimal final : public RoutingOf<Minimal> {
  public:
    Minimal(Dragonfly const& net, Gangs gangs) : RoutingOf(net), net_(net), gangs_(gangs) {}

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        leg(net_.router_of(s), net_.router_of(t), 1.0, sink);
    }
    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        walk_leg(net_.router_of(s), net_.router_of(t), draw, sink);
    }

    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        Weights const weights(net_, all);
        auto const sink = [&loads](LinkId link, double units) { loads[at(link)] += units; };
        for (int g = 0; g < net_.shape().groups; ++g) {
            within(g, weights, 1 / all.total(), sink);
            for (int h = 0; h < net_.shape().groups; ++h) {
                if (g != h) between(g, h, weights, 1 / all.total(), sink);
            }
        }
        return true;
    }
    bool add_depending(UniformTraffic const& all, LinkId link, Sink const& sink) const override {
        if (net_.class_of(link) != Dragonfly::global_link) return true;
        auto const [from, to] = net_.ends(link);
        between(net_.group_of(from - net_.nodes()), net_.group_of(to - net_.nodes()), Weights(net_, all),
                1 / all.total(), sink);
        return true;
    }

    // Traffic of the routers of a group with one another, `units` per pair of nodes.
    template <class Sink>
    void within(int g, Weights const& weights, double units, Sink&& sink) const {
        int const first = g * net_.shape().routers;
        for (int r = first; r < first + net_.shape().routers; ++r) {
            for (int t = first; t < first + net_.shape().routers; ++t) {
                hop(r, t, units * weights.router(r) * weights.router(t), sink);
            }
        }
    }
    // Traffic of one group to another.
    template <class Sink>
    void between(int g, int h, Weights const& weights, double units, Sink&& sink) const {
        int const routers = net_.shape().routers;
        gangs_.each(g, h, [&](int k, double part) {
            double const each = units * part;
            sink(net_.global_link_of(g, h, k), each * weights.group(g) * weights.group(h));
            for (int r = g * routers; r < (g + 1) * routers; ++r)
                hop(r, net_.gateway(g, h, k), each * weights.router(r) * weights.group(h), sink);
            for (int t = h * routers; t < (h + 1) * routers; ++t)
                hop(net_.gateway(h, g, k), t, each * weights.group(g) * weights.router(t), sink);
        });
    }

    template <class Sink>
    void hop(int from, int to, double part, Sink&& sink) const {
        if (from != to) sink(net_.group_link_of(from, to), part);
    }
    template <class Sink>
    void leg(int from, int to, double weight, Sink&& sink) const {
        int const g = net_.group_of(from);
        int const h = net_.group_of(to);
        if (g == h) return hop(from, to, weight, sink);
        gangs_.each(g, h, [&](int k, double part) {
            hop(from, net_.gateway(g, h, k), part * weight, sink);
            sink(net_.global_link_of(g, h, k), part * weight);
            hop(net_.gateway(h, g, k), to, part * weight, sink);
        });
    }
    template <class Sink>
    void walk_leg(int from, int to, std::uint64_t draw, Sink&& sink) const {
        auto const link = [&sink](LinkId id, double) { sink(id); };
        int const g = net_.group_of(from);
        int const h = net_.group_of(to);
        if (g == h) return hop(from, to, 1.0, link);
        int const k = gangs_.choose(g, h, draw);
        hop(from, net_.gateway(g, h, k), 1.0, link);
        sink(net_.global_link_of(g, h, k));
        hop(net_.gateway(h, g, k), to, 1.0, link);
    }

  private:
    Dragonfly const& net_;
    Gangs gangs_;
};

class Valiant final : public RoutingOf<Valiant> {
  public:
    Valiant(Dragonfly const& net, Gangs gangs, Intermediates intermediates)
        : RoutingOf(net), net_(net), gangs_(gangs), minimal_(net, gangs), intermediates_(intermediates) {}

    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        if (!intermediates_.all()) return false;
        int const others = net_.shape().groups - 2;
        if (others < 1) return minimal_.add_uniform(all, loads);
        Weights const weights(net_, all);
        auto const sink = [&loads](LinkId link, double units) { loads[at(link)] += units; };
        for (int g = 0; g < net_.shape().groups; ++g) {
            minimal_.within(g, weights, 1 / all.total(), sink);
            send_out(g, weights, 1 / all.total() / others, sink);
            pass_on(g, weights, 1 / all.total() / others, sink);
        }
        return true;
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        int const from = net_.router_of(s);
        int const to = net_.router_of(t);
        int const g = net_.group_of(from);
        int const h = net_.group_of(to);
        int const others = net_.shape().groups - 2;
        if (g == h || others < 1) return minimal_.leg(from, to, 1.0, sink);
        intermediates_.each(others, third(g, h), routes(from, to),
                            [&](int middle, double part) { over(from, middle, to, part, sink); });
    }
    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        int const from = net_.router_of(s);
        int const to = net_.router_of(t);
        int const g = net_.group_of(from);
        int const h = net_.group_of(to);
        int const others = net_.shape().groups - 2;
        if (g == h || others < 1) return minimal_.walk_leg(from, to, draw, sink);
        int const middle = intermediates_.choose(others, third(g, h), routes(from, to), mix(draw));
        int const k = gangs_.choose(g, middle, mix(draw + 1));
        int const landed = net_.gateway(middle, g, k);
        minimal_.walk_leg(from, net_.gateway(g, middle, k), draw, sink);
        sink(net_.global_link_of(g, middle, k));
        minimal_.walk_leg(landed, to, mix(draw + 2), sink);
    }

  private:
    template <class Sink>
    void over(int from, int middle, int to, double each, Sink&& sink) const {
        int const g = net_.group_of(from);
        gangs_.each(g, middle, [&](int k, double part) {
            minimal_.hop(from, net_.gateway(g, middle, k), part * each, sink);
            sink(net_.global_link_of(g, middle, k), part * each);
            minimal_.leg(net_.gateway(middle, g, k), to, part * each, sink);
        });
    }
    // The groups other than two, by number.
    [[nodiscard]] static auto third(int g, int h) {
        return [low = std::min(g, h), high = std::max(g, h)](int i) {
            int const above_low = i + (i >= low ? 1 : 0);
            return above_low + (above_low >= high ? 1 : 0);
        };
    }
    [[nodiscard]] auto routes(int from, int to) const {
        return [this, from, to](int middle, auto&& sink) { over(from, middle, to, 1.0, sink); };
    }
    // Traffic that group g sends to each intermediate group.
    template <class Sink>
    void send_out(int g, Weights const& weights, double units, Sink&& sink) const {
        int const routers = net_.shape().routers;
        for (int middle = 0; middle < net_.shape().groups; ++middle) {
            if (middle == g) continue;
            double const meant = units * (weights.total() - weights.group(g) - weights.group(middle));
            gangs_.each(g, middle, [&](int k, double part) {
                sink(net_.global_link_of(g, middle, k), part * meant * weights.group(g));
                for (int r = g * routers; r < (g + 1) * routers; ++r)
                    minimal_.hop(r, net_.gateway(g, middle, k), part * meant * weights.router(r), sink);
            });
        }
    }
    // Traffic through group `middle`, from every group to every other.
    template <class Sink>
    void pass_on(int middle, Weights const& weights, double units, Sink&& sink) const {
        int const routers = net_.shape().routers, first = middle * routers;
        std::vector<double> landed(at(routers), 0.0), from_there;  // by router
        auto const land = [&](int g, std::vector<double>& where) {
            gangs_.each(g, middle, [&](int k, double part) {
                where[at(net_.gateway(middle, g, k) - first)] += part * weights.group(g);
            });
        };
        for (int g = 0; g < net_.shape().groups; ++g) {
            if (g != middle) land(g, landed);
        }
        for (int h = 0; h < net_.shape().groups; ++h) {
            if (h == middle) continue;
            from_there.assign(at(routers), 0.0);
            land(h, from_there);  // what came from h does not go back
            double const others = weights.total() - weights.group(middle) - weights.group(h);
            gangs_.each(middle, h, [&](int k, double part) {
                double const each = part * units;
                sink(net_.global_link_of(middle, h, k), each * others * weights.group(h));
                for (int r = 0; r < routers; ++r)
                    minimal_.hop(first + r, net_.gateway(middle, h, k),
                                 each * (landed[at(r)] - from_there[at(r)]) * weights.group(h), sink);
                for (int t = h * routers; t < (h + 1) * routers; ++t)
                    minimal_.hop(net_.gateway(h, middle, k), t, each * others * weights.router(t), sink);
            });
        }
    }

    Dragonfly const& net_;
    Gangs gangs_;
    Minimal minimal_;
    Intermediates intermediates_;
};

// The network as `GroupDetours` sees it.
class DragonflyGroups {
  public:
    explicit DragonflyGroups(Dragonfly const& net) : net_(net) {}
    [[nodiscard]] int groups() const { return net_.shape().groups; }
    [[nodiscard]] int routers() const { return net_.shape().routers; }
    [[nodiscard]] Node nodes_of_router() const { return net_.shape().nodes; }
    [[nodiscard]] int router_of(Node node) const { return net_.router_of(node); }
    [[nodiscard]] int gang(int g, int h) const { return net_.gang(g, h); }
    [[nodiscard]] LinkId global_link(int g, int h, int k) const { return net_.global_link_of(g, h, k); }
    [[nodiscard]] int gateway(int g, int h, int k) const { return net_.gateway(g, h, k); }
    [[nodiscard]] LinkId local_link(int from, int to) const { return net_.group_link_of(from, to); }
    [[nodiscard]] bool is_global(LinkId link) const { return net_.class_of(link) == Dragonfly::global_link; }
    [[nodiscard]] std::pair<int, int> groups_of(LinkId link) const {
        auto const [from, to] = net_.ends(link);
        return {net_.group_of(from - net_.nodes()), net_.group_of(to - net_.nodes())};
    }

  private:
    Dragonfly const& net_;
};

}  // namespace

std::unique_ptr<Routing> route_dragonfly(Dragonfly const& net, RoutingChoice const& choice, Health const& health) {
    require_policy(choice, "dragonfly", {"stall", "spread"});
    bool const detours = choice.policy == "detour";
    Gangs const gangs(net, detours || choice.policy == "spread", health);
    auto const chosen = [&]<class Ordinary>(std::unique_ptr<Ordinary> routing) -> std::unique_ptr<Routing> {
        if (!detours) return routing;
        return std::make_unique<Detoured<Ordinary, GroupDetours<DragonflyGroups>>>(net, health, std::move(routing));
    };
    if (choice.name == "minimal") return chosen(std::make_unique<Minimal>(net, gangs));
    if (choice.name == "valiant") return chosen(std::make_unique<Valiant>(net, gangs, Intermediates(detours, health)));
    refuse_routing("dragonfly", choice, {"minimal", "valiant"});
}

}  // namespace octant::network
