#include "engine/network.hpp"

#include "engine/kinds.hpp"

namespace octant::network {

namespace {

void require_class(LinkClass const& kind) {
    auto const capacity = [&kind](double rate, std::string const& unit) {
        if (rate > 0) return;  // not so of NaN
        throw std::invalid_argument("cannot build links '" + kind.name + "' of " + std::to_string(rate) + " " + unit +
                                    "; try a positive rate");
    };
    capacity(kind.bytes_per_s, "B/s");
    capacity(kind.packets_per_s, "packets/s");
    if (kind.latency_ps >= 0 && kind.latency_ps <= max_ps) return;
    throw std::invalid_argument("cannot build links '" + kind.name + "' with a latency of " +
                                std::to_string(kind.latency_ps) + " ps; try 0 to " + std::to_string(max_ps));
}

Node checked_nodes(Extent const& extent, std::vector<LinkClass> const& classes) {
    require_extent(extent);
    std::size_t const fabric = classes.size() < first_fabric_class ? 0 : classes.size() - first_fabric_class;
    bool const fits = extent.classes == 0 ? fabric > 0 : fabric == extent.classes;
    if (!fits || classes.size() > max_classes) {
        throw std::invalid_argument("cannot build a " + std::string(extent.shape) + " network of " +
                                    std::to_string(classes.size()) + " link classes (three of endpoints and " +
                                    (extent.classes == 0 ? "at least one" : std::to_string(extent.classes)) +
                                    " of the fabric are needed, at most " + std::to_string(max_classes) + ")");
    }
    for (auto const& kind : classes) require_class(kind);
    return static_cast<Node>(extent.nodes.value());
}

}  // namespace

Topology::Topology(Extent const& extent, std::vector<LinkClass> classes, SelfTraffic self)
    : nodes_(checked_nodes(extent, classes)), self_(self), classes_(std::move(classes)) {}

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
