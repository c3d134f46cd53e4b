// Geometry of the dragonfly.
#include "topology/dragonfly.hpp"

#include "engine/routing.hpp"
#include "routing/dragonfly.hpp"

namespace octant::network {

namespace {

Node checked_nodes(DragonflyShape const& shape) {
    if (shape.groups < 2 || shape.routers < 1 || shape.nodes < 1 || shape.global < 1) {
        throw std::invalid_argument("cannot build a dragonfly without two groups, routers, nodes and global links");
    }
    if (shape.routers * shape.global < shape.groups - 1) {
        throw std::invalid_argument("cannot connect " + std::to_string(shape.groups) + " groups (a group has " +
                                    std::to_string(shape.routers * shape.global) +
                                    " global links); try more routers, more global links or fewer groups");
    }
    return shape.groups * shape.routers * shape.nodes;
}

}  // namespace

Dragonfly::Dragonfly(DragonflyShape shape, std::vector<LinkClass> classes, SelfTraffic self)
    : Topology(checked_nodes(shape), std::move(classes), self),
      shape_(shape),
      gang_(shape.routers * shape.global / (shape.groups - 1)),
      global_(shape.groups * shape.routers * (shape.routers - 1)) {}

std::string Dragonfly::node_name(Node node) const {
    int const router = router_of(node);
    return "group " + std::to_string(group_of(router)) + " router " + std::to_string(router % shape_.routers) +
           " node " + std::to_string(node % shape_.nodes);
}

std::string Dragonfly::relation(Node from, Node to) const {
    if (from == to) return "same node";
    if (router_of(from) == router_of(to)) return "same router";
    return group_of(router_of(from)) == group_of(router_of(to)) ? "same group" : "other groups";
}

Ends Dragonfly::fabric_ends(LinkId link) const {
    if (link < global_) {
        int const from = link / (shape_.routers - 1);
        int const slot = link % (shape_.routers - 1);
        int const x = from % shape_.routers;
        return {nodes() + from, nodes() + from - x + slot + (slot >= x ? 1 : 0)};
    }
    int const ahead = (link - global_) % (shape_.groups - 1) + 1;
    int const k = (link - global_) / (shape_.groups - 1) % gang_;
    int const from = (link - global_) / (shape_.groups - 1) / gang_;
    int const to = (from + ahead) % shape_.groups;
    return {nodes() + gateway(from, to, k), nodes() + gateway(to, from, k)};
}

std::string Dragonfly::fabric_name(LinkId link) const {
    auto const [from, to] = fabric_ends(link);
    auto const name = [this](Vertex vertex) {
        int const router = vertex - nodes();
        return "group " + std::to_string(group_of(router)) + " router " + std::to_string(router % shape_.routers);
    };
    return classes()[at(fabric_class(link))].name + " " + name(from) + " → " + name(to);
}

std::unique_ptr<Routing> Dragonfly::route(RoutingChoice const& choice, Health const& health) const {
    if (choice.policy == "recompute") return shortest_paths(*this, health);
    return route_dragonfly(*this, choice, health);
}

}  // namespace octant::network
