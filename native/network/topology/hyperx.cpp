// Geometry of the HyperX.
#include "topology/hyperx.hpp"

#include "engine/routing.hpp"
#include "routing/hyperx.hpp"

namespace octant::network {

namespace {

Extent extent_of(HyperXShape const& shape) {
    if (shape.sizes.empty() || shape.sizes.size() > max_dimensions) {
        throw std::invalid_argument("cannot build a HyperX of " + std::to_string(shape.sizes.size()) +
                                    " dimensions; try 1 to " + std::to_string(max_dimensions));
    }
    Count const routers = product("HyperX", "routers along a dimension", shape.sizes);
    require_part("HyperX", "nodes per router", shape.nodes);
    Count degree = 0;
    for (int const size : shape.sizes) degree = degree + (size - 1);
    return {"HyperX", routers * shape.nodes, routers * shape.nodes + routers, routers * degree, 1};
}

}  // namespace

HyperX::HyperX(HyperXShape shape, std::vector<LinkClass> classes, SelfTraffic self)
    : Topology(extent_of(shape), std::move(classes), self), shape_(std::move(shape)) {
    int stride = 1;
    for (int const size : shape_.sizes) {
        strides_.push_back(stride);
        stride *= size;
        first_.push_back(degree_);
        degree_ += size - 1;
    }
}

int HyperX::dimension_of(LinkId slot) const {
    int d = 0;
    while (d + 1 < dimensions() && slot >= first_[at(d + 1)]) ++d;
    return d;
}

std::string HyperX::relation(Node from, Node to) const {
    if (from == to) return "same node";
    int differing = 0;
    for (int d = 0; d < dimensions(); ++d) {
        differing += coordinate(router_of(from), d) == coordinate(router_of(to), d) ? 0 : 1;
    }
    return differing == 0 ? "same router" : std::to_string(differing) + (differing == 1 ? " dimension" : " dimensions");
}

Ends HyperX::fabric_ends(LinkId link) const {
    int const router = link / degree_;
    int const slot = link % degree_;
    int const d = dimension_of(slot);
    int const x = coordinate(router, d);
    int const to = slot - first_[at(d)] + (slot - first_[at(d)] >= x ? 1 : 0);
    return {nodes() + router, nodes() + router + (to - x) * strides_[at(d)]};
}

std::string HyperX::fabric_name(LinkId link) const {
    auto const [from, to] = fabric_ends(link);
    return classes()[first_fabric_class].name + " router " + std::to_string(from - nodes()) + " → router " +
           std::to_string(to - nodes());
}

std::unique_ptr<Routing> HyperX::route(RoutingChoice const& choice, Health const& health) const {
    auto own = route_hyperx(*this, choice, health);  // refuses what it does not know, whatever the policy
    return choice.policy == "recompute" ? shortest_paths(*this, health) : std::move(own);
}

// Where all nodes are active, all links of a dimension carry the same: of what is at a router, a part goes to each
// coordinate, once on the way or, by Valiant's routing, once to the router between and once from there.
std::optional<std::vector<LoadGroup>> HyperX::uniform(RoutingChoice const& choice,
                                                      std::vector<Node> const& active) const {
    if (choice.policy == "recompute" || active.size() != at(nodes())) return {};
    std::vector<char> seen(at(nodes()), 0);
    for (Node const node : active) {
        if (seen[at(node)]++) return {};
    }
    double const n = nodes(), away = (n - 1) / n;
    double const ends = self() == SelfTraffic::endpoint ? 1 : away;
    std::vector<LoadGroup> groups{{injection_of(0), ends, n}, {ejection_of(0), ends, n}};
    if (self() == SelfTraffic::memory) groups.push_back({local_of(0), 1 / n, n});
    double const passing = shape_.nodes * (choice.name == "valiant" ? 2 * away : 1);
    for (int d = 0; d < dimensions(); ++d) {
        if (size(d) > 1) groups.push_back({link(0, d, 1), passing / size(d), 1.0 * routers() * (size(d) - 1)});
    }
    return groups;
}

}  // namespace octant::network
