#include "engine/kinds.hpp"

#include <unordered_map>

namespace octant::network {

KindsOfLinks::KindsOfLinks(Topology const& topology, Kinds const& kinds) : fabric(topology.fabric()) {
    std::unordered_map<std::uint64_t, std::uint32_t> number;
    kind.reserve(at(topology.links() - fabric));
    for (LinkId link = fabric; link < topology.links(); ++link) {
        auto const fresh = static_cast<std::uint32_t>(first.size());
        auto const [found, is_new] = number.try_emplace(kinds.of_fabric_link(link), fresh);
        if (is_new) {
            first.push_back(link);
            links.push_back(0);
        }
        kind.push_back(found->second);
        links[found->second] += 1;
    }
}

std::vector<std::pair<Node, double>> kinds_of_nodes(Kinds const& kinds, std::vector<Node> const& nodes) {
    std::map<std::uint64_t, std::pair<Node, double>> found;
    for (Node const node : nodes) found.try_emplace(kinds.of_vertex(node), node, 0.0).first->second.second += 1;
    std::vector<std::pair<Node, double>> result;
    for (auto const& [key, one] : found) result.push_back(one);
    return result;
}

}  // namespace octant::network
