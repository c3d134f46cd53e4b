// Dragonfly: routers fully connected in groups, groups fully connected by global links.
//
// Cabling: the relative arrangement of global links (Hastings et al., Comparing Global Link Arrangements for Dragonfly
// Networks, CLUSTER 2015; "palmtree" in Camarero, Vallejo, Beivide, ACM TACO 11(4), 2014), so it looks the same from
// every group: port j of a group leads j + 1 groups on, and again from the first with the ports that are left, round
// after round. Ports of the last, incomplete round lead to the nearest groups on both sides, and to the opposite group
// where their number is odd. Ports lie evenly over the routers.
#pragma once

#include <algorithm>
#include <utility>

#include "engine/network.hpp"

namespace octant::network {

struct DragonflyShape {
    int groups = 2;
    int routers = 2;  // of a group
    int nodes = 1;    // of a router
    int global = 1;   // global links of a router
};

class Dragonfly final : public Topology {
  public:
    Dragonfly(DragonflyShape shape, std::vector<LinkClass> classes, SelfTraffic self);

    enum Class : int { group_link = first_fabric_class, global_link };

    [[nodiscard]] DragonflyShape const& shape() const { return shape_; }
    // Global links between two groups.
    [[nodiscard]] int gang(int from, int to) const { return gang_ + (has_extra(ahead_of(from, to)) ? 1 : 0); }
    [[nodiscard]] int router_of(Node node) const { return node / shape_.nodes; }
    [[nodiscard]] int group_of(int router) const { return router / shape_.routers; }
    // Router of `group` that holds link `k` of the gang to `other`; cabling looks the same from every group.
    [[nodiscard]] int gateway(int group, int other, int k) const {
        return group * shape_.routers + router_of_port_[at(port(ahead_of(group, other), k))];
    }
    [[nodiscard]] LinkId group_link_of(int from, int to) const {  // routers of one group
        int const x = from % shape_.routers;
        int const y = to % shape_.routers;
        return fabric() + from * (shape_.routers - 1) + y - (y > x ? 1 : 0);
    }
    [[nodiscard]] LinkId global_link_of(int from, int to, int k) const {  // groups
        return fabric() + global_ + from * ports_ + port(ahead_of(from, to), k);
    }

    [[nodiscard]] Vertex vertices() const override { return nodes() + shape_.groups * shape_.routers; }
    [[nodiscard]] Vertex entry(Node node) const override { return nodes() + router_of(node); }
    [[nodiscard]] std::string node_name(Node node) const override;
    [[nodiscard]] std::string relation(Node from, Node to) const override;
    [[nodiscard]] std::unique_ptr<Routing> route(RoutingChoice const& choice, Health const& health) const override;

  protected:
    // Terminal links between node and router stand for themselves in the endpoint classes.
    [[nodiscard]] LinkId fabric_links() const override { return global_ + shape_.groups * ports_; }
    [[nodiscard]] int fabric_class(LinkId link) const override { return link < global_ ? group_link : global_link; }
    [[nodiscard]] Ends fabric_ends(LinkId link) const override;
    [[nodiscard]] std::string fabric_name(LinkId link) const override;

  private:
    [[nodiscard]] int ahead_of(int from, int to) const { return (to - from + shape_.groups) % shape_.groups; }
    // Whether groups at this distance have an additional link.
    [[nodiscard]] bool has_extra(int ahead) const {
        return std::min(ahead, shape_.groups - ahead) <= extra_ || (opposite_ && 2 * ahead == shape_.groups);
    }
    // Number of the global link `k` to the group at this distance.
    [[nodiscard]] int port(int ahead, int k) const {
        int const first = k * (shape_.groups - 1);
        if (k < gang_ || ahead <= extra_) return first + ahead - 1;
        return ahead >= shape_.groups - extra_ ? first + 2 * extra_ - (shape_.groups - ahead) : first + 2 * extra_;
    }
    [[nodiscard]] std::pair<int, int> ahead_and_k(int port) const;

    DragonflyShape shape_;
    int ports_;      // of a group, that hold global links
    int gang_;       // global links between any two groups, at least
    int extra_;      // groups on either side to which there is one more
    bool opposite_;  // and one more to the opposite group
    std::vector<int> router_of_port_;
    LinkId global_;  // first global link, relative to the fabric
};

}  // namespace octant::network
