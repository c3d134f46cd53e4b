// Torus and mesh, chosen per dimension. Node numbers run through the first dimension fastest.
#pragma once

#include "engine/network.hpp"

namespace octant::network {

struct TorusShape {
    std::vector<int> sizes;
    std::vector<bool> wraps;
};

class Torus final : public Topology {
  public:
    Torus(TorusShape shape, std::vector<LinkClass> classes, SelfTraffic self);

    [[nodiscard]] int dimensions() const { return static_cast<int>(shape_.sizes.size()); }
    [[nodiscard]] int size(int dimension) const { return shape_.sizes[at(dimension)]; }
    [[nodiscard]] bool wraps(int dimension) const { return shape_.wraps[at(dimension)]; }
    [[nodiscard]] int stride(int dimension) const { return strides_[at(dimension)]; }
    [[nodiscard]] int coordinate(Node node, int dimension) const { return node / stride(dimension) % size(dimension); }
    // Neighbour one step on; the node itself where a mesh ends.
    [[nodiscard]] Node step(Node node, int dimension, bool backwards) const {
        int const here = coordinate(node, dimension);
        int const there = here + (backwards ? -1 : 1);
        if (there >= 0 && there < size(dimension)) return node + (there - here) * stride(dimension);
        if (!wraps(dimension)) return node;
        return node + (backwards ? 1 : -1) * (size(dimension) - 1) * stride(dimension);
    }
    [[nodiscard]] LinkId link(Node node, int dimension, bool backwards) const {
        return fabric() + (node * dimensions() + dimension) * 2 + (backwards ? 1 : 0);
    }
    // Hops of the shorter direction, positive if forwards. A tie counts as forwards; `tied` reports it.
    [[nodiscard]] int offset(Node s, Node t, int dimension) const {
        int const gap = coordinate(t, dimension) - coordinate(s, dimension);
        if (!wraps(dimension)) return gap;
        int const forwards = gap < 0 ? gap + size(dimension) : gap;
        return 2 * forwards <= size(dimension) ? forwards : forwards - size(dimension);
    }
    [[nodiscard]] bool tied(int offset, int dimension) const {
        return wraps(dimension) && 2 * offset == size(dimension);
    }

    [[nodiscard]] std::string node_name(Node node) const override;
    [[nodiscard]] std::string relation(Node from, Node to) const override;
    [[nodiscard]] std::unique_ptr<Routing> route(RoutingChoice const& choice, Health const& health) const override;

  protected:
    [[nodiscard]] LinkId fabric_links() const override { return nodes() * dimensions() * 2; }
    [[nodiscard]] int fabric_class(LinkId) const override { return first_fabric_class; }
    [[nodiscard]] Ends fabric_ends(LinkId link) const override;
    [[nodiscard]] std::string fabric_name(LinkId link) const override;

  private:
    TorusShape shape_;
    std::vector<int> strides_;
};

}  // namespace octant::network
