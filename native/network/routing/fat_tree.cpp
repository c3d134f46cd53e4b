// A route is a plane and a column of the top switches; the way down follows from them.
#include "routing/fat_tree.hpp"

#include "routing/detoured.hpp"

namespace octant::network {

namespace {

enum class Spread { by_destination, by_source, all };

class UpDown final : public RoutingOf<UpDown> {
  public:
    UpDown(FatTree const& net, Spread spread, bool failover, Health const& health)
        : RoutingOf(net), net_(net), health_(health), spread_(spread), failover_(failover) {}

    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        if (failover_ && !health_.scale.empty()) return false;
        double const units = 1 / all.total() / net_.shape().planes;
        for (int plane = 0; plane < net_.shape().planes; ++plane) {
            for (Node node = 0; node < net_.nodes(); ++node) {
                double const away = units * all.at_node(node) * (all.total() - all.at_node(node));
                loads[at(net_.port_link(plane, node, false))] += away;
                loads[at(net_.port_link(plane, node, true))] += away;
            }
            for (int level = 1; level < net_.levels(); ++level) add_trunks(plane, level, all, units, loads);
        }
        return true;
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        int const top = top_of(s, t);
        MessagePaths const ways = survivors(s, t, top);
        double const part = 1.0 / ways.count;
        for (int way = 0; way < ways.all; ++way) {
            if (ways.count < ways.all && !usable(s, t, top, way)) continue;
            along(s, t, top, way, [&](LinkId link) { sink(link, part); });
        }
    }

    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        int const top = top_of(s, t);
        MessagePaths const ways = survivors(s, t, top);
        int nth = static_cast<int>(draw % static_cast<std::uint64_t>(ways.count));
        for (int way = 0; way < ways.all; ++way) {
            if (ways.count < ways.all && !usable(s, t, top, way)) continue;
            if (nth-- == 0) return along(s, t, top, way, sink);
        }
    }

  private:
    struct MessagePaths {
        int all, count;
    };

    // Between a level and the next, a column of the upper level is one link of every subtree: nodes choose it by their
    // number, or evenly.
    void add_trunks(int plane, int level, UniformTraffic const& all, double units, std::span<double> loads) const {
        int const columns = net_.columns(level + 1), below = net_.below(level);
        std::vector<double> choosing(at(columns), 0.0), within;
        auto const choose = [&](Node node, std::vector<double>& columns_of) {
            columns_of[at(node % columns)] += all.at_node(node);
        };
        for (Node node = 0; node < net_.nodes(); ++node) choose(node, choosing);
        for (Node first = 0; first < net_.nodes(); first += below) {
            within.assign(at(columns), 0.0);
            double inside = 0;
            for (Node node = first; node < first + below; ++node) {
                choose(node, within);
                inside += all.at_node(node);
            }
            for (int column = 0; column < columns; ++column) {
                double const here = within[at(column)], elsewhere = choosing[at(column)] - here;
                double const by_inner = here * (all.total() - inside), by_outer = inside * elsewhere;
                double const even = inside * (all.total() - inside) / columns;
                auto const put = [&](bool down, double pairs) {
                    loads[at(net_.trunk_link(plane, level, first, column % net_.columns(level),
                                             column / net_.columns(level), down))] += units * pairs;
                };
                bool const by_source = spread_ == Spread::by_source;
                put(false, spread_ == Spread::all ? even : by_source ? by_inner : by_outer);
                put(true, spread_ == Spread::all ? even : by_source ? by_outer : by_inner);
            }
        }
    }

    [[nodiscard]] int top_of(Node s, Node t) const {
        int level = 1;
        while (s / net_.below(level) != t / net_.below(level)) ++level;
        return level;
    }

    // MessagePaths are numbered plane by plane; ECMP has one for each column of the top level, the others one per
    // plane.
    [[nodiscard]] MessagePaths survivors(Node s, Node t, int top) const {
        int const all = net_.shape().planes * (spread_ == Spread::all ? net_.columns(top) : 1);
        if (!failover_ || health_.scale.empty()) return {all, all};
        int count = 0;
        for (int way = 0; way < all; ++way) count += usable(s, t, top, way) ? 1 : 0;
        return {all, count == 0 ? all : count};  // nothing left: the traffic waits at its own links
    }

    [[nodiscard]] bool usable(Node s, Node t, int top, int way) const {
        bool up = true;
        along(s, t, top, way, [&](LinkId link) { up = up && health_.up(link); });
        return up;
    }

    template <class Sink>
    void along(Node s, Node t, int top, int way, Sink&& sink) const {
        int const per_plane = spread_ == Spread::all ? net_.columns(top) : 1;
        int const plane = way / per_plane;
        int const digits = spread_ == Spread::all ? way % per_plane : spread_ == Spread::by_source ? s : t;
        auto const trunk = [&](int level, Node node, bool down) {
            int const column = digits % net_.columns(level);
            int const up = digits / net_.columns(level) % net_.shape().up[at(level - 1)];
            sink(net_.trunk_link(plane, level, node, column, up, down));
        };
        sink(net_.port_link(plane, s, false));
        for (int level = 1; level < top; ++level) trunk(level, s, false);
        for (int level = top - 1; level > 0; --level) trunk(level, t, true);
        sink(net_.port_link(plane, t, true));
    }

    FatTree const& net_;
    Health const& health_;
    Spread spread_;
    bool failover_;
};

}  // namespace

std::unique_ptr<Routing> route_fat_tree(FatTree const& net, RoutingChoice const& choice, Health const& health) {
    require_policy(choice, "fat-tree", {"stall", "spread"});
    bool const detours = choice.policy == "detour";
    auto const up_down = [&](Spread spread) -> std::unique_ptr<Routing> {
        auto routing = std::make_unique<UpDown>(net, spread, detours || choice.policy == "spread", health);
        if (!detours) return routing;
        return std::make_unique<Detoured<UpDown, ShortestDetours>>(net, health, std::move(routing));
    };
    if (choice.name == "d-mod-k") return up_down(Spread::by_destination);
    if (choice.name == "s-mod-k") return up_down(Spread::by_source);
    if (choice.name == "ecmp") return up_down(Spread::all);
    refuse_routing("fat-tree", choice, {"d-mod-k", "s-mod-k", "ecmp"});
}

}  // namespace octant::network
