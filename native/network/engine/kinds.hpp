// Which vertices and which links of a network are alike.
#pragma once

#include <cstdint>
#include <map>

#include "engine/network.hpp"

namespace octant::network {

// Keys of vertices and of links: of two with equal keys, a symmetry of the whole network carries one to the other.
class Kinds {
  public:
    virtual ~Kinds() = default;
    [[nodiscard]] virtual std::uint64_t of_vertex(Vertex vertex) const = 0;
    [[nodiscard]] virtual std::uint64_t of_fabric_link(LinkId link) const = 0;
};

// All fabric links, by kind.
struct KindsOfLinks {
    KindsOfLinks(Topology const& topology, Kinds const& kinds);
    [[nodiscard]] std::size_t of(LinkId link) const { return kind[at(link - fabric)]; }

    LinkId fabric;
    std::vector<std::uint32_t> kind;
    std::vector<LinkId> first;  // of each kind
    std::vector<double> links;
};

// One of the nodes of each kind, and how many there are.
[[nodiscard]] std::vector<std::pair<Node, double>> kinds_of_nodes(Kinds const& kinds, std::vector<Node> const& nodes);

}  // namespace octant::network
