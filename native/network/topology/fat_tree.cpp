// Geometry of the fat tree.
#include "topology/fat_tree.hpp"

#include "engine/routing.hpp"
#include "routing/fat_tree.hpp"

namespace octant::network {

namespace {

Extent extent_of(FatTreeShape const& shape) {
    if (shape.down.empty() || shape.down.size() > max_dimensions || shape.up.size() + 1 != shape.down.size()) {
        throw std::invalid_argument(
            "cannot build a fat tree (one number of children per level, and one of parents per level but the top, are "
            "needed, and 1 to " +
            std::to_string(max_dimensions) + " levels)");
    }
    require_part("fat-tree", "planes", shape.planes);
    std::span const down(shape.down), up(shape.up);
    Count const nodes = product("fat-tree", "children of a switch", down);
    Count switches = 0, links = nodes;
    for (std::size_t level = 0; level < down.size(); ++level) {
        Count const here = product("fat-tree", "children of a switch", down.subspan(level + 1)) *
                           product("fat-tree", "parents of a switch", up.first(level));
        switches = switches + here;
        if (level < up.size()) {
            require_part("fat-tree", "parents of a switch", up[level]);
            links = links + here * up[level];
        }
    }
    return {"fat-tree", nodes, nodes + switches * shape.planes, links * 2 * shape.planes, 2};
}

}  // namespace

FatTree::FatTree(FatTreeShape shape, std::vector<LinkClass> classes, SelfTraffic self)
    : Topology(extent_of(shape), std::move(classes), self), shape_(std::move(shape)) {
    below_.push_back(1);
    columns_.push_back(1);
    first_.push_back(0);
    first_switch_.push_back(0);
    LinkId links = nodes();
    for (int level = 1; level <= levels(); ++level) {
        below_.push_back(below_.back() * shape_.down[at(level - 1)]);
        columns_.push_back(level == 1 ? 1 : columns_.back() * shape_.up[at(level - 2)]);
        first_.push_back(links);
        first_switch_.push_back(switches_);
        int const switches = nodes() / below_.back() * columns_.back();
        switches_ += switches;
        if (level < levels()) links += switches * shape_.up[at(level - 1)];
    }
    per_plane_ = 2 * links;
}

std::string FatTree::relation(Node from, Node to) const {
    if (from == to) return "same node";
    int level = 1;
    while (from / below(level) != to / below(level)) ++level;
    return level == 1 ? "same leaf" : "over level " + std::to_string(level);
}

Ends FatTree::fabric_ends(LinkId link) const {
    int const plane = link / per_plane_;
    bool const down = link % per_plane_ >= per_plane_ / 2;
    LinkId const number = link % (per_plane_ / 2);
    Ends ends{};
    if (number < nodes()) {
        ends = {number, switch_vertex(plane, 1, number / below(1))};
    } else {
        int level = 1;
        while (level + 1 < levels() && number >= first_[at(level + 1)]) ++level;
        int const parents = shape_.up[at(level - 1)];
        int const child = (number - first_[at(level)]) / parents;
        int const up = (number - first_[at(level)]) % parents;
        int const subtree = child / columns(level) / shape_.down[at(level)];
        int const column = child % columns(level) + up * columns(level);
        ends = {switch_vertex(plane, level, child),
                switch_vertex(plane, level + 1, subtree * columns(level + 1) + column)};
    }
    return down ? Ends{ends.to, ends.from} : ends;
}

std::string FatTree::fabric_name(LinkId link) const {
    auto const [from, to] = fabric_ends(link);
    auto const name = [this](Vertex vertex) {
        return vertex < nodes() ? node_name(vertex) : "switch " + std::to_string((vertex - nodes()) % switches_);
    };
    std::string const plane = shape_.planes > 1 ? " plane " + std::to_string(link / per_plane_) : "";
    return classes()[at(fabric_class(link))].name + plane + " " + name(from) + " → " + name(to);
}

std::unique_ptr<Routing> FatTree::route(RoutingChoice const& choice, Health const& health) const {
    auto own = route_fat_tree(*this, choice, health);  // refuses what it does not know, whatever the policy
    return choice.policy == "recompute" ? shortest_paths(*this, health) : std::move(own);
}

}  // namespace octant::network
