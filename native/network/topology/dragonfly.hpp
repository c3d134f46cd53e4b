// Dragonfly: routers fully connected in groups, groups fully connected by global links.
#pragma once

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
    [[nodiscard]] int gang() const { return gang_; }  // global links between two groups
    [[nodiscard]] int router_of(Node node) const { return node / shape_.nodes; }
    [[nodiscard]] int group_of(int router) const { return router / shape_.routers; }
    // Router of `group` that holds link `k` of the gang to `other`; cabling looks the same from every group.
    [[nodiscard]] int gateway(int group, int other, int k) const {
        int const ahead = (other - group + shape_.groups) % shape_.groups;
        int const port = k * (shape_.groups - 1) + ahead - 1;
        return group * shape_.routers + port / shape_.global;
    }
    [[nodiscard]] LinkId group_link_of(int from, int to) const {  // routers of one group
        int const x = from % shape_.routers;
        int const y = to % shape_.routers;
        return fabric() + from * (shape_.routers - 1) + y - (y > x ? 1 : 0);
    }
    [[nodiscard]] LinkId global_link_of(int from, int to, int k) const {  // groups
        int const ahead = (to - from + shape_.groups) % shape_.groups;
        return fabric() + global_ + (from * gang_ + k) * (shape_.groups - 1) + ahead - 1;
    }

    [[nodiscard]] Vertex vertices() const override { return nodes() + shape_.groups * shape_.routers; }
    [[nodiscard]] Vertex entry(Node node) const override { return nodes() + router_of(node); }
    [[nodiscard]] std::string node_name(Node node) const override;
    [[nodiscard]] std::string relation(Node from, Node to) const override;
    [[nodiscard]] std::unique_ptr<Routing> route(RoutingChoice const& choice, Health const& health) const override;

  protected:
    // Terminal links between node and router stand for themselves in the endpoint classes.
    [[nodiscard]] LinkId fabric_links() const override { return global_ + shape_.groups * (shape_.groups - 1) * gang_; }
    [[nodiscard]] int fabric_class(LinkId link) const override { return link < global_ ? group_link : global_link; }
    [[nodiscard]] Ends fabric_ends(LinkId link) const override;
    [[nodiscard]] std::string fabric_name(LinkId link) const override;

  private:
    DragonflyShape shape_;
    int gang_;
    LinkId global_;  // first global link, relative to the fabric
};

}  // namespace octant::network
