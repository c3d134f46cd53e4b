// Dimension-ordered, random-minimal and Valiant routing on torus and mesh.
#include "routing/torus.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "routing/detoured.hpp"
#include "routing/torus_uniform.hpp"

namespace octant::network {

namespace {

// Walks all hops of one dimension; returns the node reached.
template <class Sink>
Node walk_dimension(Torus const& net, Node from, int dimension, int hops, double part, Sink&& sink) {
    bool const backwards = hops < 0;
    for (int left = std::abs(hops); left > 0; --left) {
        sink(net.link(from, dimension, backwards), part);
        from = net.step(from, dimension, backwards);
    }
    return from;
}

class DimensionOrdered final : public RoutingOf<DimensionOrdered> {
  public:
    DimensionOrdered(Torus const& net, std::vector<int> order, bool split_ties)
        : RoutingOf(net), net_(net), order_(std::move(order)), split_ties_(split_ties) {}

    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        auto const weights = all.by(1);
        add_dimension_ordered(net_, order_, split_ties_, weights, weights, 1 / all.total(), loads);
        return true;
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        for (int const d : order_) {
            int const hops = net_.offset(s, t, d);
            if (split_ties_ && net_.tied(hops, d)) {
                walk_dimension(net_, s, d, -hops, 0.5, sink);
                s = walk_dimension(net_, s, d, hops, 0.5, sink);
            } else {
                s = walk_dimension(net_, s, d, hops, 1.0, sink);
            }
        }
    }

    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        for (int const d : order_) {
            int hops = net_.offset(s, t, d);
            if (split_ties_ && net_.tied(hops, d) && (draw >> d) % 2 == 1) hops = -hops;
            s = walk_dimension(net_, s, d, hops, 1.0, [&sink](LinkId link, double) { sink(link); });
        }
    }

  private:
    Torus const& net_;
    std::vector<int> order_;
    bool split_ties_;
};

// Each hop takes one of the dimensions that still need hops, all equally likely: exact, by going through the states
// "hops left per dimension" from many to none. Ties between both directions split evenly.
class RandomMinimal final : public RoutingOf<RandomMinimal> {
  public:
    RandomMinimal(Torus const& net, bool split_ties) : RoutingOf(net), net_(net), split_ties_(split_ties) {}

    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        return all.total() == net_.nodes() && add_random_minimal(net_, split_ties_, loads);
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        std::vector<int> hops;
        std::vector<int> ties;
        for (int d = 0; d < net_.dimensions(); ++d) {
            hops.push_back(net_.offset(s, t, d));
            if (split_ties_ && net_.tied(hops.back(), d)) ties.push_back(d);
        }
        unsigned const ways = 1U << ties.size();
        for (unsigned way = 0; way < ways; ++way) {
            auto signed_hops = hops;
            for (std::size_t i = 0; i < ties.size(); ++i) {
                if ((way >> i) % 2 == 1) signed_hops[at(ties[i])] *= -1;
            }
            spread(s, signed_hops, 1.0 / ways, sink);
        }
    }

    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        std::vector<int> hops;
        for (int d = 0; d < net_.dimensions(); ++d) {
            hops.push_back(net_.offset(s, t, d));
            if (split_ties_ && net_.tied(hops.back(), d) && (mix(draw + 1) >> d) % 2 == 1) hops.back() *= -1;
        }
        while (s != t) {
            draw = mix(draw);
            auto const productive = std::count_if(hops.begin(), hops.end(), [](int left) { return left != 0; });
            auto nth = draw % static_cast<std::uint64_t>(productive);
            int d = 0;
            while (hops[at(d)] == 0 || nth-- > 0) ++d;
            bool const backwards = hops[at(d)] < 0;
            sink(net_.link(s, d, backwards));
            s = net_.step(s, d, backwards);
            hops[at(d)] += backwards ? 1 : -1;
        }
    }

  private:
    template <class Sink>
    void spread(Node s, std::vector<int> const& hops, double weight, Sink&& sink) const {
        std::size_t states = 1;
        std::vector<std::size_t> stride;
        for (int const left : hops) {
            stride.push_back(states);
            states *= at(std::abs(left)) + 1;
        }
        std::vector<double> chance(states, 0.0);  // of being where state = hops already made, per dimension
        chance[0] = weight;
        for (std::size_t state = 0; state < states; ++state) {  // a hop only ever raises the number
            if (chance[state] == 0) continue;
            Node here = s;
            int productive = 0;
            for (std::size_t d = 0; d < hops.size(); ++d) {
                int const made = static_cast<int>(state / stride[d]) % (std::abs(hops[d]) + 1);
                for (int i = 0; i < made; ++i) here = net_.step(here, static_cast<int>(d), hops[d] < 0);
                productive += made < std::abs(hops[d]) ? 1 : 0;
            }
            for (std::size_t d = 0; d < hops.size(); ++d) {
                int const made = static_cast<int>(state / stride[d]) % (std::abs(hops[d]) + 1);
                if (made == std::abs(hops[d])) continue;
                double const part = chance[state] / productive;
                sink(net_.link(here, static_cast<int>(d), hops[d] < 0), part);
                chance[state + stride[d]] += part;
            }
        }
    }

    Torus const& net_;
    bool split_ties_;
};

// To any node first, all equally likely, then on; each leg dimension by dimension.
class ValiantTorus final : public RoutingOf<ValiantTorus> {
  public:
    ValiantTorus(Torus const& net, std::vector<int> order, bool split_ties, Intermediates intermediates)
        : RoutingOf(net),
          net_(net),
          order_(order),
          split_ties_(split_ties),
          legs_(net, std::move(order), split_ties),
          intermediates_(intermediates) {}

    // A node's own share goes nowhere, so it sends (n - 1) / n; each leg's other end is any node.
    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        if (!intermediates_.all()) return false;
        std::vector<double> const anywhere(at(net_.nodes()), 1.0);
        double const each = (all.total() - 1) / all.total() / net_.nodes();
        add_dimension_ordered(net_, order_, split_ties_, all.by(1), anywhere, each, loads);
        add_dimension_ordered(net_, order_, split_ties_, anywhere, all.by(1), each, loads);
        return true;
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        intermediates_.each(net_.nodes(), std::identity(), routes(s, t), [&](Node middle, double each) {
            over(s, middle, t, [&](LinkId link, double part) { sink(link, part * each); });
        });
    }

    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        Node const middle = intermediates_.choose(net_.nodes(), std::identity(), routes(s, t), mix(draw));
        legs_.walk(s, middle, mix(draw + 1), sink);
        legs_.walk(middle, t, mix(draw + 2), sink);
    }

  private:
    template <class Sink>
    void over(Node s, Node middle, Node t, Sink&& sink) const {
        legs_.visit(s, middle, sink);
        legs_.visit(middle, t, sink);
    }
    [[nodiscard]] auto routes(Node s, Node t) const {
        return [this, s, t](Node middle, auto&& sink) { over(s, middle, t, sink); };
    }

    Torus const& net_;
    std::vector<int> order_;
    bool split_ties_;
    DimensionOrdered legs_;
    Intermediates intermediates_;
};

}  // namespace

std::unique_ptr<Routing> route_torus(Torus const& net, RoutingChoice const& choice, Health const& health) {
    require_policy(choice, "torus", {"stall"});
    auto const order = dimension_order(choice, net.dimensions());
    bool const split = choice.number("split_ties", 1) != 0;
    bool const detours = choice.policy == "detour";
    auto const chosen = [&]<class Ordinary>(std::unique_ptr<Ordinary> routing) -> std::unique_ptr<Routing> {
        if (!detours) return routing;
        return std::make_unique<Detoured<Ordinary, ShortestDetours>>(net, health, std::move(routing));
    };
    if (choice.name == "dimension-ordered") return chosen(std::make_unique<DimensionOrdered>(net, order, split));
    if (choice.name == "random-minimal") return chosen(std::make_unique<RandomMinimal>(net, split));
    if (choice.name == "valiant")
        return chosen(std::make_unique<ValiantTorus>(net, order, split, Intermediates(detours, health)));
    refuse_routing("torus", choice, {"dimension-ordered", "random-minimal", "valiant"});
}

}  // namespace octant::network
