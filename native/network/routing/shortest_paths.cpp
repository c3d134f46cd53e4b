// Equal-cost multipath over the links that are up: at every vertex, all links that come nearer share equally.
#include <mutex>

#include "engine/routing.hpp"
#include "engine/symmetry.hpp"
#include "engine/work.hpp"
#include "routing/detoured.hpp"

namespace octant::network {

namespace {

constexpr std::size_t max_distances = 1UL << 27;  // 256 MiB of table

class ShortestPaths final : public RoutingOf<ShortestPaths> {
  public:
    ShortestPaths(Topology const& topology, Health const& health)
        : RoutingOf(topology),
          topology_(topology),
          fabric_(topology, health),
          vertices_(fabric_.vertices()),
          healthy_(health.scale.empty()) {}

    // Destination by destination, all senders at once.
    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        std::map<Vertex, double> nodes;
        std::vector<Node> active;
        for (Node node = 0; node < topology_.nodes(); ++node) {
            if (all.at_node(node) == 0) continue;
            nodes[topology_.entry(node)] += 1;
            active.push_back(node);
        }
        if (healthy_ && add_symmetric_loads(topology_, fabric_, active, loads)) return true;
        std::vector<std::uint16_t> hops(vertices_);
        std::vector<Vertex> order;
        std::vector<double> passing;
        Work work(static_cast<double>(nodes.size()), "a smaller size, or the topology's own routing");
        for (auto const& [target, here] : nodes) {
            fabric_.measure(target, hops, order);
            passing.assign(vertices_, 0.0);
            for (auto const& [source, senders] : nodes) {
                if (hops[at(source)] == Fabric::unreachable) refuse_path();
                passing[at(source)] = senders * here / all.total();
            }
            fabric_.spread(target, hops, order, passing,
                           [&loads](LinkId link, double units) { loads[at(link)] += units; });
            work.advance();
        }
        return true;
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        require_path(s, t);
        std::vector<double> mass(vertices_, 0.0);
        std::vector<Vertex> layer{topology_.entry(s)}, next;
        mass[at(layer.front())] = 1;
        while (layer.front() != topology_.entry(t)) {
            next.clear();
            for (Vertex const v : layer) {
                double const part = mass[at(v)] / nearer(v, t);
                for_each_nearer(v, t, [&](Fabric::Hop const& out) {
                    sink(out.link, part);
                    if (mass[at(out.to)] == 0) next.push_back(out.to);
                    mass[at(out.to)] += part;
                });
            }
            std::swap(layer, next);
        }
    }

    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        require_path(s, t);
        for (Vertex v = topology_.entry(s); v != topology_.entry(t);) {
            auto nth = draw % static_cast<std::uint64_t>(nearer(v, t));
            draw = mix(draw);
            Vertex to = v;
            for_each_nearer(v, t, [&](Fabric::Hop const& out) {
                if (nth-- != 0) return;
                sink(out.link);
                to = out.to;
            });
            v = to;
        }
    }

  private:
    [[nodiscard]] std::uint16_t distance(Vertex v, Node t) const { return distance_[at(t) * vertices_ + at(v)]; }

    // Distances to every node, computed for the first request of a single route.
    void measure_all() const {
        if (vertices_ * at(topology_.nodes()) > max_distances) {
            throw std::invalid_argument(
                "cannot recompute routes of " + std::to_string(topology_.nodes()) +
                " nodes (the table of distances would exceed 256 MiB); try a smaller network or the "
                "topology's own routing");
        }
        distance_.resize(vertices_ * at(topology_.nodes()));
        std::vector<Vertex> order;
        for (Node t = 0; t < topology_.nodes(); ++t) {
            fabric_.measure(topology_.entry(t), std::span(distance_).subspan(at(t) * vertices_, vertices_), order);
        }
    }

    [[noreturn]] static void refuse_path(std::string const& between = "all traffic") {
        throw std::invalid_argument("cannot route " + between +
                                    " (no path of links that are up joins them); try fewer failures");
    }
    void require_path(Node s, Node t) const {
        std::call_once(measured_, [this] { measure_all(); });
        if (distance(topology_.entry(s), t) != Fabric::unreachable) return;
        refuse_path("from " + topology_.node_name(s) + " to " + topology_.node_name(t));
    }

    template <class Sink>
    void for_each_nearer(Vertex v, Node t, Sink&& sink) const {
        int const here = distance(v, t);
        for (auto const& hop : fabric_.out_of(v)) {
            if (distance(hop.to, t) + 1 == here && fabric_.leads(hop.to, topology_.entry(t))) sink(hop);
        }
    }
    [[nodiscard]] int nearer(Vertex v, Node t) const {
        int count = 0;
        for_each_nearer(v, t, [&count](Fabric::Hop const&) { ++count; });
        return count;
    }

    Topology const& topology_;
    Fabric fabric_;
    std::size_t vertices_;
    bool healthy_;
    mutable std::once_flag measured_;
    mutable std::vector<std::uint16_t> distance_;  // hops left to each node, node-major
};

}  // namespace

std::unique_ptr<Routing> shortest_paths(Topology const& topology, Health const& health) {
    return std::make_unique<ShortestPaths>(topology, health);
}

std::unique_ptr<Routing> shortest_paths_with_detours(Topology const& topology, Health const& health) {
    return std::make_unique<Detoured<ShortestPaths, ShortestDetours>>(
        topology, health, std::make_unique<ShortestPaths>(topology, Health{}));
}

}  // namespace octant::network
