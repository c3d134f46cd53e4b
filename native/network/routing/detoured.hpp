// Policy "detour": pairs of nodes keep their ordinary routes while all links of these are up, and take others if not.
#pragma once

#include <algorithm>

#include "routing/remaining_paths.hpp"

namespace octant::network {

// Detours of a network whose routing has no other equal routes: all shortest paths that are left.
class ShortestDetours {
  public:
    ShortestDetours(Topology const& topology, Health const& health) : topology_(topology), paths_(topology, health) {}

    // Calls sink(link, part); false, and no call, if the nodes are not connected.
    template <class Sink>
    bool visit(Node s, Node t, Sink&& sink) const {
        return paths_.spread(topology_.entry(s), topology_.entry(t), sink);
    }
    template <class Sink>
    bool walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        return paths_.walk(topology_.entry(s), topology_.entry(t), draw, sink);
    }
    // Sums of uniform traffic, as those of `Routing`; `ordinary` is the routing without detours.
    [[nodiscard]] static bool add_uniform(Routing const&, UniformTraffic const&, std::span<double>) { return false; }
    [[nodiscard]] static bool add_depending(Routing const&, UniformTraffic const&, LinkId, Routing::Sink const&) {
        return false;
    }

  private:
    Topology const& topology_;
    RemainingPaths paths_;
};

// The intermediate vertices of Valiant's routing, all equally likely. With detours they are those whose routes are up,
// as long as there is one.
class Intermediates {
  public:
    Intermediates(bool detours, Health const& health) : detours_(detours), health_(health) {}

    // Whether every pair uses all of them; `fixed`: without a look at the links.
    [[nodiscard]] bool all() const { return !detours_ || std::ranges::count(health_.scale, 0.0) == 0; }
    [[nodiscard]] bool fixed() const { return !detours_ || health_.scale.empty(); }
    // Calls sink(vertex, part) for nth(0) … nth(count - 1); route(vertex, sink) calls sink(link, part).
    template <class Nth, class Route, class Sink>
    void each(int count, Nth&& nth, Route&& route, Sink&& sink) const {
        if (fixed()) {
            for (int i = 0; i < count; ++i) sink(nth(i), 1.0 / count);
            return;
        }
        auto const found = usable(count, nth, route);
        for (int const middle : found) sink(middle, 1.0 / static_cast<double>(found.size()));
    }
    template <class Nth, class Route>
    [[nodiscard]] int choose(int count, Nth&& nth, Route&& route, std::uint64_t draw) const {
        if (fixed()) return nth(static_cast<int>(draw % static_cast<std::uint64_t>(count)));
        auto const found = usable(count, nth, route);
        return found[draw % found.size()];
    }

  private:
    template <class Nth, class Route>
    [[nodiscard]] std::vector<int> usable(int count, Nth&& nth, Route&& route) const {
        std::vector<int> found, every;
        for (int i = 0; i < count; ++i) {
            every.push_back(nth(i));
            bool up = true;
            route(every.back(), [&](LinkId link, double) { up = up && health_.up(link); });
            if (up) found.push_back(every.back());
        }
        return found.empty() ? every : found;
    }

    bool detours_;
    Health const& health_;
};

// Nodes that are not connected at all keep their ordinary routes, whose links have no capacity.
template <class Ordinary, class Detours>
class Detoured final : public RoutingOf<Detoured<Ordinary, Detours>> {
  public:
    template <class Net>
    Detoured(Net const& net, Health const& health, std::unique_ptr<Ordinary> ordinary)
        : RoutingOf<Detoured>(net), health_(health), ordinary_(std::move(ordinary)), detours_(net, health) {}

    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        bool const whole = std::ranges::none_of(health_.scale, [](double left) { return left == 0; });
        return whole ? ordinary_->add_uniform(all, loads) : detours_.add_uniform(*ordinary_, all, loads);
    }
    bool add_depending(UniformTraffic const& all, LinkId link, Routing::Sink const& sink) const override {
        return detours_.add_depending(*ordinary_, all, link, sink);
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        if (intact(s, t) || !detours_.visit(s, t, sink)) ordinary_->visit(s, t, sink);
    }
    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        if (intact(s, t) || !detours_.walk(s, t, draw, sink)) ordinary_->walk(s, t, draw, sink);
    }

  private:
    [[nodiscard]] bool intact(Node s, Node t) const {
        if (health_.scale.empty()) return true;
        bool up = true;
        ordinary_->visit(s, t, [&](LinkId link, double) { up = up && health_.up(link); });
        return up;
    }

    Health const& health_;
    std::unique_ptr<Ordinary> ordinary_;
    Detours detours_;
};

}  // namespace octant::network
