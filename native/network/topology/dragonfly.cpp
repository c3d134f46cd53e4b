// Geometry of the dragonfly.
#include "topology/dragonfly.hpp"

#include "engine/routing.hpp"
#include "routing/dragonfly.hpp"

namespace octant::network {

namespace {

// Global links of a group: every port, but for one where both the ports left over after equal gangs and the groups are
// odd in number (a cable needs two ends, and every group looks the same).
std::int64_t used_ports(std::int64_t ports, int groups) {
    std::int64_t const left = ports % (groups - 1);
    return ports - (left % 2 == 1 && groups % 2 == 1 ? 1 : 0);
}

Extent extent_of(DragonflyShape const& shape) {
    require_part("dragonfly", "groups", shape.groups);
    require_part("dragonfly", "routers per group", shape.routers);
    require_part("dragonfly", "nodes per router", shape.nodes);
    require_part("dragonfly", "global links per router", shape.global);
    Count const ports = Count(shape.routers) * shape.global;  // of a group, for global links
    if (shape.groups < 2 || ports.value() < shape.groups - 1) {
        throw std::invalid_argument("cannot connect " + std::to_string(shape.groups) + " groups (a group has " +
                                    std::to_string(ports.value()) +
                                    " global links); try two groups or more, more global links or fewer groups");
    }
    Count const routers = Count(shape.groups) * shape.routers;
    Count const nodes = routers * shape.nodes;
    Count const links = routers * (shape.routers - 1) + Count(shape.groups) * used_ports(ports.value(), shape.groups);
    return {"dragonfly", nodes, nodes + routers, links, 2};
}

}  // namespace

Dragonfly::Dragonfly(DragonflyShape shape, std::vector<LinkClass> classes, SelfTraffic self)
    : Topology(extent_of(shape), std::move(classes), self),
      shape_(shape),
      ports_(static_cast<int>(used_ports(std::int64_t{shape.routers} * shape.global, shape.groups))),
      gang_(ports_ / (shape.groups - 1)),
      extra_(ports_ % (shape.groups - 1) / 2),
      opposite_(ports_ % (shape.groups - 1) % 2 == 1),
      global_(shape.groups * shape.routers * (shape.routers - 1)) {
    for (std::int64_t port = 0; port < ports_; ++port)
        router_of_port_.push_back(static_cast<int>(port * shape_.routers / ports_));
}

std::pair<int, int> Dragonfly::ahead_and_k(int port) const {
    int const others = shape_.groups - 1;
    int const k = port / others;
    int const slot = port % others;
    if (k < gang_ || slot < extra_) return {slot + 1, k};
    return {slot < 2 * extra_ ? shape_.groups - 2 * extra_ + slot : shape_.groups / 2, k};
}

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
    int const from = (link - global_) / ports_;
    auto const [ahead, k] = ahead_and_k((link - global_) % ports_);
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
    auto own = route_dragonfly(*this, choice, health);  // refuses what it does not know, whatever the policy
    return choice.policy == "recompute" ? shortest_paths(*this, health) : std::move(own);
}

}  // namespace octant::network
