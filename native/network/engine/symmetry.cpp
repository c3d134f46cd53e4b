#include "engine/symmetry.hpp"

#include <numeric>

namespace octant::network {

std::vector<LoadGroup> uniform_from_one(Topology const& topology, RoutingChoice const& choice,
                                        std::vector<Node> const& sources, std::function<int(LinkId)> const& orbit,
                                        int orbits) {
    Health const healthy;
    auto const routing = topology.route(choice, healthy);
    std::vector<Node> all(at(topology.nodes()));
    std::iota(all.begin(), all.end(), 0);
    std::vector<double> loads(at(topology.links()), 0.0);
    double const images = static_cast<double>(topology.nodes()) / static_cast<double>(sources.size());
    for (Node const source : sources) routing->add(source, all, images / topology.nodes(), loads);

    std::vector<LoadGroup> groups(at(orbits + first_fabric_class), {-1, 0, 0});
    for (LinkId link = 0; link < topology.links(); ++link) {
        if (link >= topology.fabric()) {
            auto const [from, to] = topology.ends(link);
            if (from == to) continue;
        }
        int const number =
            link < topology.fabric() ? topology.class_of(link) : first_fabric_class + orbit(link - topology.fabric());
        LoadGroup& group = groups[at(number)];
        if (group.link < 0) group.link = link;
        group.load += loads[at(link)];
        group.links += 1;
    }
    std::erase_if(groups, [](LoadGroup const& group) { return group.links == 0; });
    for (LoadGroup& group : groups) group.load /= group.links;
    return groups;
}

}  // namespace octant::network
