// Equal-cost multipath over the links that are up: at every vertex, all links that come nearer share equally.
#include <algorithm>

#include "engine/routing.hpp"

namespace octant::network {

namespace {

constexpr std::uint16_t unreachable = 0xffff;
constexpr std::size_t most_distances = 1UL << 27;  // 256 MiB of table

class ShortestPaths final : public RoutingOf<ShortestPaths> {
  public:
    ShortestPaths(Topology const& topology, Health const& health) : RoutingOf(topology), topology_(topology) {
        vertices_ = at(topology.vertices());
        if (vertices_ * at(topology.nodes()) > most_distances) {
            throw std::invalid_argument(
                "cannot recompute routes of " + std::to_string(topology.nodes()) +
                " nodes (the table of distances would exceed 256 MiB); try a smaller network or the "
                "topology's own routing");
        }
        connect(health);
        measure();
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
                each_nearer(v, t, [&](Out const& out) {
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
            each_nearer(v, t, [&](Out const& out) {
                if (nth-- != 0) return;
                sink(out.link);
                to = out.to;
            });
            v = to;
        }
    }

  private:
    struct Out {
        LinkId link;
        Vertex to;
    };

    void connect(Health const& health) {
        std::vector<std::size_t> degree(vertices_ + 1, 0);
        for (LinkId link = topology_.fabric(); link < topology_.links(); ++link) {
            auto const [from, to] = topology_.ends(link);
            if (from != to && health.up(link)) ++degree[at(from) + 1];
        }
        for (std::size_t v = 0; v < vertices_; ++v) degree[v + 1] += degree[v];
        first_ = degree;
        out_.resize(first_.back());
        for (LinkId link = topology_.fabric(); link < topology_.links(); ++link) {
            auto const [from, to] = topology_.ends(link);
            if (from != to && health.up(link)) out_[degree[at(from)]++] = {link, to};
        }
    }

    void measure() {
        std::vector<std::vector<Vertex>> into(vertices_);
        for (std::size_t v = 0; v < vertices_; ++v) {
            for (std::size_t i = first_[v]; i < first_[v + 1]; ++i)
                into[at(out_[i].to)].push_back(static_cast<Vertex>(v));
        }
        distance_.assign(vertices_ * at(topology_.nodes()), unreachable);
        std::vector<Vertex> queue;
        for (Node t = 0; t < topology_.nodes(); ++t) {
            std::uint16_t* const to_t = distance_.data() + at(t) * vertices_;
            queue.assign(1, topology_.entry(t));
            to_t[at(queue.front())] = 0;
            for (std::size_t head = 0; head < queue.size(); ++head) {
                Vertex const v = queue[head];
                for (Vertex const u : into[at(v)]) {
                    if (to_t[at(u)] != unreachable) continue;
                    to_t[at(u)] = static_cast<std::uint16_t>(to_t[at(v)] + 1);
                    queue.push_back(u);
                }
            }
        }
    }

    [[nodiscard]] std::uint16_t distance(Vertex v, Node t) const { return distance_[at(t) * vertices_ + at(v)]; }

    void require_path(Node s, Node t) const {
        if (distance(topology_.entry(s), t) != unreachable) return;
        throw std::invalid_argument("cannot route from " + topology_.node_name(s) + " to " + topology_.node_name(t) +
                                    " (no path of links that are up joins them); try fewer failures");
    }

    template <class Sink>
    void each_nearer(Vertex v, Node t, Sink&& sink) const {
        int const here = distance(v, t);
        for (std::size_t i = first_[at(v)]; i < first_[at(v) + 1]; ++i) {
            if (distance(out_[i].to, t) + 1 == here) sink(out_[i]);
        }
    }
    [[nodiscard]] int nearer(Vertex v, Node t) const {
        int count = 0;
        each_nearer(v, t, [&count](Out const&) { ++count; });
        return count;
    }

    Topology const& topology_;
    std::size_t vertices_;
    std::vector<std::size_t> first_;  // of each vertex' links in out_
    std::vector<Out> out_;
    std::vector<std::uint16_t> distance_;  // hops left to each node, node-major
};

}  // namespace

std::unique_ptr<Routing> shortest_paths(Topology const& topology, Health const& health) {
    return std::make_unique<ShortestPaths>(topology, health);
}

}  // namespace octant::network
