// Minimal (the gang of global links in turn) and Valiant (over a third group, all equally likely).
#include "routing/dragonfly.hpp"

#include <algorithm>

namespace octant::network {

namespace {

// The global links between two groups that traffic may use.
class Gangs {
  public:
    Gangs(Dragonfly const& net, bool failover, Health const& health)
        : net_(net), health_(health), failover_(failover) {}

    template <class Sink>
    void each(int from, int to, Sink&& sink) const {
        int up = 0;
        for (int k = 0; k < net_.gang(); ++k) up += usable(from, to, k) ? 1 : 0;
        for (int k = 0; k < net_.gang(); ++k) {
            if (up == 0 || usable(from, to, k)) sink(k, 1.0 / (up == 0 ? net_.gang() : up));
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
    Valiant(Dragonfly const& net, Gangs gangs) : RoutingOf(net), net_(net), gangs_(gangs), minimal_(net, gangs) {}

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        int const from = net_.router_of(s);
        int const to = net_.router_of(t);
        int const g = net_.group_of(from);
        int const h = net_.group_of(to);
        int const others = net_.shape().groups - 2;
        if (g == h || others < 1) return minimal_.leg(from, to, 1.0, sink);
        double const each = 1.0 / others;
        for (int middle = 0; middle < net_.shape().groups; ++middle) {
            if (middle == g || middle == h) continue;
            gangs_.each(g, middle, [&](int k, double part) {
                minimal_.hop(from, net_.gateway(g, middle, k), part * each, sink);
                sink(net_.global_link_of(g, middle, k), part * each);
                minimal_.leg(net_.gateway(middle, g, k), to, part * each, sink);
            });
        }
    }
    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        int const from = net_.router_of(s);
        int const to = net_.router_of(t);
        int const g = net_.group_of(from);
        int const h = net_.group_of(to);
        int const others = net_.shape().groups - 2;
        if (g == h || others < 1) return minimal_.walk_leg(from, to, draw, sink);
        int middle = static_cast<int>(mix(draw) % static_cast<std::uint64_t>(others));
        if (middle >= std::min(g, h)) ++middle;
        if (middle >= std::max(g, h)) ++middle;
        int const k = gangs_.choose(g, middle, mix(draw + 1));
        int const landed = net_.gateway(middle, g, k);
        minimal_.walk_leg(from, net_.gateway(g, middle, k), draw, sink);
        sink(net_.global_link_of(g, middle, k));
        minimal_.walk_leg(landed, to, mix(draw + 2), sink);
    }

  private:
    Dragonfly const& net_;
    Gangs gangs_;
    Minimal minimal_;
};

}  // namespace

std::unique_ptr<Routing> route_dragonfly(Dragonfly const& net, RoutingChoice const& choice, Health const& health) {
    require_policy(choice, "dragonfly", {"stall", "spread"});
    Gangs const gangs(net, choice.policy == "spread", health);
    if (choice.name == "minimal") return std::make_unique<Minimal>(net, gangs);
    if (choice.name == "valiant") return std::make_unique<Valiant>(net, gangs);
    refuse_routing("dragonfly", choice, "minimal, valiant");
}

}  // namespace octant::network
