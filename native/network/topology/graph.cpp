// A network given link by link.
#include "topology/graph.hpp"

#include "engine/routing.hpp"

namespace octant::network {

namespace {

Extent extent_of(GraphShape const& shape) {
    if (shape.vertices < shape.nodes) {
        throw std::invalid_argument("cannot build a graph of " + std::to_string(shape.vertices) +
                                    " vertices, of which " + std::to_string(shape.nodes) +
                                    " are nodes; nodes are vertices too");
    }
    return {"graph", shape.nodes, shape.vertices, static_cast<std::int64_t>(shape.links.size()), 0};
}

}  // namespace

Graph::Graph(GraphShape shape, std::vector<LinkClass> classes, SelfTraffic self)
    : Topology(extent_of(shape), std::move(classes), self), shape_(std::move(shape)) {
    int const kinds = static_cast<int>(this->classes().size()) - first_fabric_class;
    if (shape_.link_class.size() != shape_.links.size()) {
        throw std::invalid_argument("cannot build a graph (every link needs a class)");
    }
    for (std::size_t i = 0; i < shape_.links.size(); ++i) {
        auto const [from, to] = shape_.links[i];
        bool const known = from >= 0 && to >= 0 && from < shape_.vertices && to < shape_.vertices && from != to;
        if (!known || shape_.link_class[i] < 0 || shape_.link_class[i] >= kinds) {
            throw std::invalid_argument("cannot build a graph (link " + std::to_string(i) +
                                        " has no such ends or class)");
        }
    }
}

std::string Graph::fabric_name(LinkId link) const {
    auto const [from, to] = shape_.links[at(link)];
    return classes()[at(class_of(link + fabric()))].name + " " + std::to_string(from) + " → " + std::to_string(to);
}

std::unique_ptr<Routing> Graph::route(RoutingChoice const& choice, Health const& health) const {
    require_policy(choice, "graph", {"stall"});
    if (choice.name != "ecmp") refuse_routing("graph", choice, {"ecmp"});
    if (choice.policy == "detour") return shortest_paths_with_detours(*this, health);
    return shortest_paths(*this, choice.policy == "recompute" ? health : Health{});
}

}  // namespace octant::network
