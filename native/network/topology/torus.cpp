// Geometry of torus and mesh.
#include "topology/torus.hpp"

#include "engine/routing.hpp"
#include "routing/torus.hpp"

namespace octant::network {

namespace {

Extent extent_of(TorusShape const& shape) {
    std::size_t const dimensions = shape.sizes.size();
    if (dimensions < 1 || dimensions > max_dimensions || dimensions != shape.wraps.size()) {
        throw std::invalid_argument("cannot build a torus (one size and one wrap per dimension are needed, and 1 to " +
                                    std::to_string(max_dimensions) + " dimensions)");
    }
    Count const nodes = product("torus", "nodes along a dimension", shape.sizes);
    return {"torus", nodes, nodes, nodes * static_cast<int>(2 * dimensions), 1};
}

}  // namespace

Torus::Torus(TorusShape shape, std::vector<LinkClass> classes, SelfTraffic self)
    : Topology(extent_of(shape), std::move(classes), self), shape_(std::move(shape)) {
    int stride = 1;
    for (int const size : shape_.sizes) {
        strides_.push_back(stride);
        stride *= size;
    }
}

std::string Torus::node_name(Node node) const {
    std::string name = "(";
    for (int d = 0; d < dimensions(); ++d) name.append(d > 0 ? "," : "").append(std::to_string(coordinate(node, d)));
    return name.append(")");
}

std::string Torus::relation(Node from, Node to) const {
    int hops = 0;
    for (int d = 0; d < dimensions(); ++d) hops += std::abs(offset(from, to, d));
    return hops == 0 ? "same node" : std::to_string(hops) + (hops == 1 ? " hop" : " hops");
}

Ends Torus::fabric_ends(LinkId link) const {
    Node const from = link / 2 / dimensions();
    int const dimension = link / 2 % dimensions();
    return {from, step(from, dimension, link % 2 == 1)};
}

std::string Torus::fabric_name(LinkId link) const {
    auto const [from, to] = fabric_ends(link);
    return classes()[first_fabric_class].name + " " + node_name(from) + " → " + node_name(to);
}

std::unique_ptr<Routing> Torus::route(RoutingChoice const& choice, Health const& health) const {
    auto own = route_torus(*this, choice, health);  // refuses what it does not know, whatever the policy
    return choice.policy == "recompute" ? shortest_paths(*this, health) : std::move(own);
}

}  // namespace octant::network
