#include "engine/network.hpp"

#include "engine/kinds.hpp"

namespace octant::network {

std::optional<std::vector<LoadGroup>> Topology::uniform(RoutingChoice const&, std::vector<Node> const&) const {
    return std::nullopt;
}

std::unique_ptr<Kinds> Topology::kinds(std::vector<Node> const&, LinkId) const { return nullptr; }

Limit limit_of(LinkClass const& link, bool endpoint, UnitCost const& shape) {
    double const bytes = endpoint ? shape.payload_bytes : shape.wire_bytes;
    double const by_bytes = bytes > 0 ? link.bytes_per_s / bytes : unlimited;
    double const by_packets = shape.packets > 0 ? link.packets_per_s / shape.packets : unlimited;
    return by_packets < by_bytes ? Limit{by_packets, true} : Limit{by_bytes, false};
}

std::vector<double> capacities(Topology const& topology, Health const& health, UnitCost const& shape) {
    std::vector<double> by_class;
    for (std::size_t c = 0; c < topology.classes().size(); ++c) {
        by_class.push_back(limit_of(topology.classes()[c], c < first_fabric_class, shape).units_per_s);
    }
    std::vector<double> result(at(topology.links()));
    for (LinkId link = 0; link < topology.links(); ++link) {
        double const left = health.left(link);
        result[at(link)] = left > 0 ? by_class[at(topology.class_of(link))] * left : 0;
    }
    return result;
}

}  // namespace octant::network
