// Description of a network: endpoints, link classes with two capacities, and links as plain numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/limits.hpp"

namespace octant::network {

using Node = std::int32_t;    // an endpoint
using LinkId = std::int32_t;  // one direction of one link
using Vertex = std::int32_t;  // endpoints come first, switches after them

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

template <class Number>
constexpr std::size_t at(Number number) {
    return static_cast<std::size_t>(number);
}

struct LinkClass {
    std::string name;
    double bytes_per_s = unlimited;
    double packets_per_s = unlimited;
    std::int64_t latency_ps = 0;
};

// The first three classes of every network belong to the endpoints; they count payload, the others count wire bytes.
enum EndpointClass : int { injection = 0, ejection = 1, local = 2, first_fabric_class = 3 };

struct Ends {
    Vertex from;
    Vertex to;
};

// Cost of one unit of traffic (a byte, an update): payload at endpoints, wire bytes on links, packets on both.
struct UnitCost {
    double payload_bytes = 1;
    double wire_bytes = 1;
    double packets = 0;
};

// Path of the traffic of a node with itself: through memory, through injection and ejection, or free.
enum class SelfTraffic { memory, endpoint, free };

// Links that carry the same load by symmetry, represented by one of them.
struct LoadGroup {
    LinkId link;
    double load;
    double links;
};

class Routing;
class Kinds;
struct RoutingChoice;

// Share of each link's capacity that is left; empty when everything is up.
struct Health {
    std::vector<double> scale;

    [[nodiscard]] bool up(LinkId link) const { return scale.empty() || scale[at(link)] > 0; }
    [[nodiscard]] double left(LinkId link) const { return scale.empty() ? 1.0 : scale[at(link)]; }
};

// A shape of network. Links are numbered: injection, ejection and local of every node, then the fabric.
class Topology {
  public:
    // Throws std::invalid_argument where the shape is too large or the link classes are not those that it needs.
    Topology(Extent const& extent, std::vector<LinkClass> classes, SelfTraffic self);
    virtual ~Topology() = default;
    Topology(Topology const&) = delete;
    Topology& operator=(Topology const&) = delete;

    [[nodiscard]] Node nodes() const { return nodes_; }
    [[nodiscard]] SelfTraffic self() const { return self_; }
    [[nodiscard]] std::vector<LinkClass> const& classes() const { return classes_; }
    [[nodiscard]] LinkId fabric() const { return 3 * nodes_; }  // number of the first fabric link
    [[nodiscard]] LinkId links() const { return fabric() + fabric_links(); }
    [[nodiscard]] LinkId injection_of(Node node) const { return node; }
    [[nodiscard]] LinkId ejection_of(Node node) const { return nodes_ + node; }
    [[nodiscard]] LinkId local_of(Node node) const { return 2 * nodes_ + node; }
    [[nodiscard]] int class_of(LinkId link) const {
        return link < fabric() ? link / nodes_ : fabric_class(link - fabric());
    }
    [[nodiscard]] Ends ends(LinkId link) const {
        return link < fabric() ? Ends{link % nodes_, link % nodes_} : fabric_ends(link - fabric());
    }
    [[nodiscard]] std::string name(LinkId link) const {
        return link < fabric() ? classes_[at(link / nodes_)].name + " of " + node_name(link % nodes_)
                               : fabric_name(link - fabric());
    }

    [[nodiscard]] virtual Vertex vertices() const { return nodes_; }
    [[nodiscard]] virtual Vertex entry(Node node) const { return node; }  // where its traffic enters the fabric
    // Whether traffic of others may pass through: a host between switches sends and receives only.
    [[nodiscard]] virtual bool forwards(Vertex) const { return true; }
    [[nodiscard]] virtual std::string node_name(Node node) const { return "node " + std::to_string(node); }
    // Relation of two nodes as text, for the composition of a load.
    [[nodiscard]] virtual std::string relation(Node from, Node to) const {
        return from == to ? "same node" : "other nodes";
    }
    [[nodiscard]] virtual std::unique_ptr<Routing> route(RoutingChoice const& choice, Health const& health) const = 0;
    // Loads of uniform traffic (every active node sends one unit, spread over all of them) by counting few kinds of
    // links; nothing where the shape has no such kinds under that routing.
    [[nodiscard]] virtual std::optional<std::vector<LoadGroup>> uniform(RoutingChoice const& choice,
                                                                        std::vector<Node> const& active) const;
    // What is alike while exactly these nodes are active and the ends of `fixed` (-1: none) stay; null: not known.
    [[nodiscard]] virtual std::unique_ptr<Kinds> kinds(std::vector<Node> const& active, LinkId fixed) const;

  protected:
    [[nodiscard]] virtual LinkId fabric_links() const = 0;
    [[nodiscard]] virtual int fabric_class(LinkId link) const = 0;
    [[nodiscard]] virtual Ends fabric_ends(LinkId link) const = 0;
    [[nodiscard]] virtual std::string fabric_name(LinkId link) const = 0;

  private:
    Node nodes_;
    SelfTraffic self_;
    std::vector<LinkClass> classes_;
};

// Units per second that one link of that class carries, and whether bytes or packets bound it.
struct Limit {
    double units_per_s = unlimited;
    bool packets = false;
};
[[nodiscard]] Limit limit_of(LinkClass const& link, bool endpoint, UnitCost const& shape);
[[nodiscard]] std::vector<double> capacities(Topology const& topology, Health const& health, UnitCost const& shape);

}  // namespace octant::network
