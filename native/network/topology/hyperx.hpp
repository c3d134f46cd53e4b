// HyperX: routers on a lattice, fully connected along every dimension.
#pragma once

#include "engine/network.hpp"

namespace octant::network {

struct HyperXShape {
    std::vector<int> sizes;
    int nodes = 1;  // of a router
};

class HyperX final : public Topology {
  public:
    HyperX(HyperXShape shape, std::vector<LinkClass> classes, SelfTraffic self);

    [[nodiscard]] int dimensions() const { return static_cast<int>(shape_.sizes.size()); }
    [[nodiscard]] int size(int d) const { return shape_.sizes[at(d)]; }
    [[nodiscard]] int routers() const { return nodes() / shape_.nodes; }
    [[nodiscard]] int nodes_of_router() const { return shape_.nodes; }
    [[nodiscard]] int router_of(Node node) const { return node / shape_.nodes; }
    [[nodiscard]] int coordinate(int router, int d) const { return router / strides_[at(d)] % shape_.sizes[at(d)]; }
    // Router with the coordinate of `like` in dimension `d`.
    [[nodiscard]] int moved(int router, int like, int d) const {
        return router + (coordinate(like, d) - coordinate(router, d)) * strides_[at(d)];
    }
    [[nodiscard]] LinkId link(int router, int d, int to) const {  // `to`: coordinate reached
        return fabric() + router * degree_ + first_[at(d)] + to - (to > coordinate(router, d) ? 1 : 0);
    }

    [[nodiscard]] Vertex vertices() const override { return nodes() + routers(); }
    [[nodiscard]] Vertex entry(Node node) const override { return nodes() + router_of(node); }
    [[nodiscard]] std::string relation(Node from, Node to) const override;
    [[nodiscard]] std::unique_ptr<Routing> route(RoutingChoice const& choice, Health const& health) const override;
    [[nodiscard]] std::optional<std::vector<LoadGroup>> uniform(RoutingChoice const& choice,
                                                                std::vector<Node> const& active) const override;

  protected:
    [[nodiscard]] LinkId fabric_links() const override { return routers() * degree_; }
    [[nodiscard]] int fabric_class(LinkId) const override { return first_fabric_class; }
    [[nodiscard]] Ends fabric_ends(LinkId link) const override;
    [[nodiscard]] std::string fabric_name(LinkId link) const override;

  private:
    [[nodiscard]] int dimension_of(LinkId slot) const;

    HyperXShape shape_;
    std::vector<int> strides_, first_;  // by dimension; `first_` is the first slot of a router's links
    int degree_ = 0;
};

}  // namespace octant::network
