// The fabric as a graph: the links that are up, by the vertex that they leave or enter.
#pragma once

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
    // Whether a route to `target` may come to `v`: the target itself, or something that passes on.
    [[nodiscard]] bool leads(Vertex v, Vertex target) const { return v == target || topology_.forwards(v); }
    // Hops from every vertex to `target`, written to `hops`; the vertices in the order in which they are found.
    void measure(Vertex target, std::span<std::uint16_t> hops, std::vector<Vertex>& order) const;

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
