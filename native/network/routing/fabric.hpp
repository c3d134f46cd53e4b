// The fabric as a graph: the links that are up, by the vertex that they leave or enter.
#pragma once

#include <algorithm>

#include "engine/network.hpp"

namespace octant::network {

class Fabric {
  public:
    struct Hop {
        LinkId link;
        Vertex to;  // the other end
    };
    static constexpr std::uint16_t unreachable = 0xffff;

    Fabric(Topology const& topology, Health const& health);

    [[nodiscard]] std::size_t vertices() const { return first_out_.size() - 1; }
    [[nodiscard]] std::span<Hop const> out_of(Vertex v) const { return row(first_out_, out_, v); }
    [[nodiscard]] std::span<Hop const> into(Vertex v) const { return row(first_in_, in_, v); }
    // Whether a route to `target` may visit `v`: the target itself, or a vertex that forwards traffic.
    [[nodiscard]] bool leads(Vertex v, Vertex target) const { return v == target || topology_.forwards(v); }
    // Hops from every vertex to `target`, written to `hops`; the vertices in the order in which they are found.
    void measure(Vertex target, std::span<std::uint16_t> hops, std::vector<Vertex>& order) const;
    // Traffic to `target` from far to near, equally over all links that come nearer: `passing` holds what the vertices
    // send, and then what passes them; calls sink(link, units). `hops` and `order` are those measured.
    template <class Sink>
    void spread(Vertex target, std::span<std::uint16_t const> hops, std::vector<Vertex> const& order,
                std::span<double> passing, Sink&& sink) const {
        for (auto v = order.rbegin(); v != order.rend(); ++v) {
            if (passing[at(*v)] == 0 || *v == target) continue;
            auto const nearer = [&](Hop const& hop) {
                return hops[at(hop.to)] + 1 == hops[at(*v)] && leads(hop.to, target);
            };
            auto const out = out_of(*v);
            double const part = passing[at(*v)] / static_cast<double>(std::ranges::count_if(out, nearer));
            for (auto const& hop : out) {
                if (!nearer(hop)) continue;
                passing[at(hop.to)] += part;
                sink(hop.link, part);
            }
        }
    }

  private:
    [[nodiscard]] static std::span<Hop const> row(std::vector<std::size_t> const& first, std::vector<Hop> const& hops,
                                                  Vertex v) {
        return std::span(hops).subspan(first[at(v)], first[at(v) + 1] - first[at(v)]);
    }

    Topology const& topology_;
    std::vector<std::size_t> first_out_, first_in_;
    std::vector<Hop> out_, in_;
};

}  // namespace octant::network
