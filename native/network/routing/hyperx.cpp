// Dimension-ordered and Valiant routing on the HyperX.
#include "routing/hyperx.hpp"

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
    Valiant(HyperX const& net, std::vector<int> order) : RoutingOf(net), net_(net), order_(std::move(order)) {}

    // A node's own share goes nowhere, so it sends (n - 1) / n; each leg's other end is any router.
    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        auto const weights = all.by(net_.nodes_of_router());
        std::vector<double> const anywhere(weights.size(), 1.0);
        double const each = (all.total() - 1) / all.total() / net_.routers();
        add_legs(net_, order_, weights, anywhere, each, loads);
        add_legs(net_, order_, anywhere, weights, each, loads);
        return true;
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        double const each = 1.0 / net_.routers();
        for (int middle = 0; middle < net_.routers(); ++middle) {
            leg(net_, order_, net_.router_of(s), middle, each, sink);
            leg(net_, order_, middle, net_.router_of(t), each, sink);
        }
    }
    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        int const middle = static_cast<int>(mix(draw) % static_cast<std::uint64_t>(net_.routers()));
        auto const link = [&sink](LinkId id, double) { sink(id); };
        leg(net_, order_, net_.router_of(s), middle, 1.0, link);
        leg(net_, order_, middle, net_.router_of(t), 1.0, link);
    }

  private:
    HyperX const& net_;
    std::vector<int> order_;
};

}  // namespace

std::unique_ptr<Routing> route_hyperx(HyperX const& net, RoutingChoice const& choice) {
    require_policy(choice, "hyperx", {"stall"});
    auto const order = dimension_order(choice, net.dimensions());
    if (choice.name == "dimension-ordered") return std::make_unique<DimensionOrdered>(net, order);
    if (choice.name == "valiant") return std::make_unique<Valiant>(net, order);
    refuse_routing("hyperx", choice, {"dimension-ordered", "valiant"});
}

}  // namespace octant::network
