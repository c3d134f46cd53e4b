// Dimension-ordered and Valiant routing on the HyperX.
#include "routing/hyperx.hpp"

#include <functional>

#include "routing/detoured.hpp"
#include "routing/lattice.hpp"

namespace octant::network {

namespace {

template <class Sink>
void leg(HyperX const& net, std::vector<int> const& order, int from, int to, double part, Sink&& sink) {
    for (int const d : order) {
        int const x = net.coordinate(to, d);
        if (net.coordinate(from, d) == x) continue;
        sink(net.link(from, d, x), part);
        from = net.moved(from, to, d);
    }
}

// from[r] × to[q] × units from every router to every other.
void add_legs(HyperX const& net, std::vector<int> const& order, std::vector<double> const& from,
              std::vector<double> const& to, double units, std::span<double> loads) {
    Lattice shape;
    for (int d = 0; d < net.dimensions(); ++d) shape.sizes.push_back(net.size(d));
    auto const line = [&](int d, std::size_t first, std::vector<double> const& a, std::vector<double> const& b) {
        for (int x = 0; x < net.size(d); ++x) {
            int const router = static_cast<int>(first + at(x) * shape.stride(d));
            for (int y = 0; y < net.size(d); ++y) {
                if (x != y) loads[at(net.link(router, d, y))] += units * a[at(x)] * b[at(y)];
            }
        }
    };
    by_dimensions(shape, order, from, to, line);
}

class DimensionOrdered final : public RoutingOf<DimensionOrdered> {
  public:
    DimensionOrdered(HyperX const& net, std::vector<int> order) : RoutingOf(net), net_(net), order_(std::move(order)) {}

    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        auto const weights = all.by(net_.nodes_of_router());
        add_legs(net_, order_, weights, weights, 1 / all.total(), loads);
        return true;
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        leg(net_, order_, net_.router_of(s), net_.router_of(t), 1.0, sink);
    }
    template <class Sink>
    void walk(Node s, Node t, std::uint64_t, Sink&& sink) const {
        visit(s, t, [&sink](LinkId link, double) { sink(link); });
    }

  private:
    HyperX const& net_;
    std::vector<int> order_;
};

class Valiant final : public RoutingOf<Valiant> {
  public:
    Valiant(HyperX const& net, std::vector<int> order, Intermediates intermediates)
        : RoutingOf(net), net_(net), order_(std::move(order)), intermediates_(intermediates) {}

    // A node's own share goes nowhere, so it sends (n - 1) / n; each leg's other end is any router.
    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        if (!intermediates_.all()) return false;
        auto const weights = all.by(net_.nodes_of_router());
        std::vector<double> const anywhere(weights.size(), 1.0);
        double const each = (all.total() - 1) / all.total() / net_.routers();
        add_legs(net_, order_, weights, anywhere, each, loads);
        add_legs(net_, order_, anywhere, weights, each, loads);
        return true;
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        intermediates_.each(net_.routers(), std::identity(), routes(s, t),
                            [&](int middle, double part) { over(s, middle, t, part, sink); });
    }
    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        int const middle = intermediates_.choose(net_.routers(), std::identity(), routes(s, t), mix(draw));
        over(s, middle, t, 1.0, [&sink](LinkId id, double) { sink(id); });
    }

  private:
    template <class Sink>
    void over(Node s, int middle, Node t, double part, Sink&& sink) const {
        leg(net_, order_, net_.router_of(s), middle, part, sink);
        leg(net_, order_, middle, net_.router_of(t), part, sink);
    }
    [[nodiscard]] auto routes(Node s, Node t) const {
        return [this, s, t](int middle, auto&& sink) { over(s, middle, t, 1.0, sink); };
    }

    HyperX const& net_;
    std::vector<int> order_;
    Intermediates intermediates_;
};

}  // namespace

std::unique_ptr<Routing> route_hyperx(HyperX const& net, RoutingChoice const& choice, Health const& health) {
    require_policy(choice, "hyperx", {"stall"});
    auto const order = dimension_order(choice, net.dimensions());
    bool const detours = choice.policy == "detour";
    auto const chosen = [&]<class Ordinary>(std::unique_ptr<Ordinary> routing) -> std::unique_ptr<Routing> {
        if (!detours) return routing;
        return std::make_unique<Detoured<Ordinary, ShortestDetours>>(net, health, std::move(routing));
    };
    if (choice.name == "dimension-ordered") return chosen(std::make_unique<DimensionOrdered>(net, order));
    if (choice.name == "valiant") return chosen(std::make_unique<Valiant>(net, order, Intermediates(detours, health)));
    refuse_routing("hyperx", choice, {"dimension-ordered", "valiant"});
}

}  // namespace octant::network
