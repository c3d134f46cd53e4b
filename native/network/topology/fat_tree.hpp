// Fat tree of any height, once per plane; every node has one port in every plane.
#pragma once

#include "engine/network.hpp"

namespace octant::network {

struct FatTreeShape {
    int planes = 1;
    std::vector<int> down;  // children of a switch, leaf level first; their product is the number of nodes
    std::vector<int> up;    // parents of a switch, leaf level first; one entry less than `down`
};

class FatTree final : public Topology {
  public:
    FatTree(FatTreeShape shape, std::vector<LinkClass> classes, SelfTraffic self);

    enum Class : int { port = first_fabric_class, trunk };

    [[nodiscard]] FatTreeShape const& shape() const { return shape_; }
    [[nodiscard]] int levels() const { return static_cast<int>(shape_.down.size()); }
    [[nodiscard]] int below(int level) const { return below_[at(level)]; }      // nodes under one switch of that level
    [[nodiscard]] int columns(int level) const { return columns_[at(level)]; }  // switches over the same nodes
    [[nodiscard]] LinkId port_link(int plane, Node node, bool down) const {
        return fabric() + plane * per_plane_ + (down ? per_plane_ / 2 : 0) + node;
    }
    // Link between levels `level` and `level + 1` (1 = leaf) over the switch of `node` in `column`, to its parent `up`.
    [[nodiscard]] LinkId trunk_link(int plane, int level, Node node, int column, int up, bool down) const {
        int const switch_number = node / below(level) * columns(level) + column;
        return fabric() + plane * per_plane_ + (down ? per_plane_ / 2 : 0) + first_[at(level)] +
               switch_number * shape_.up[at(level - 1)] + up;
    }

    [[nodiscard]] Vertex vertices() const override { return nodes() + shape_.planes * switches_; }
    [[nodiscard]] std::string relation(Node from, Node to) const override;
    [[nodiscard]] bool forwards(Vertex vertex) const override { return vertex >= nodes(); }
    [[nodiscard]] std::unique_ptr<Routing> route(RoutingChoice const& choice, Health const& health) const override;

  protected:
    [[nodiscard]] LinkId fabric_links() const override { return shape_.planes * per_plane_; }
    [[nodiscard]] int fabric_class(LinkId link) const override {
        return link % per_plane_ % (per_plane_ / 2) < nodes() ? port : trunk;
    }
    [[nodiscard]] Ends fabric_ends(LinkId link) const override;
    [[nodiscard]] std::string fabric_name(LinkId link) const override;

  private:
    [[nodiscard]] Vertex switch_vertex(int plane, int level, int number) const {
        return nodes() + plane * switches_ + first_switch_[at(level)] + number;
    }

    FatTreeShape shape_;
    std::vector<int> below_, columns_, first_, first_switch_;  // by level, 0 = the nodes themselves
    int switches_ = 0;                                         // of one plane
    LinkId per_plane_ = 0;
};

}  // namespace octant::network
