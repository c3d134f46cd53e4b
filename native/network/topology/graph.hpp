// Any network, as a list of directed links between vertices; endpoints are the first vertices.
#pragma once

#include "engine/network.hpp"

namespace octant::network {

struct GraphShape {
    Node nodes = 0;
    Vertex vertices = 0;
    std::vector<Ends> links;
    std::vector<int> link_class;  // of each link, counted from the first fabric class
    // Whether nodes forward traffic: those of a torus without switches do, host adapters do not.
    bool nodes_forward = false;
};

class Graph final : public Topology {
  public:
    Graph(GraphShape shape, std::vector<LinkClass> classes, SelfTraffic self);

    [[nodiscard]] Vertex vertices() const override { return shape_.vertices; }
    [[nodiscard]] bool forwards(Vertex vertex) const override { return vertex >= nodes() || shape_.nodes_forward; }
    [[nodiscard]] std::unique_ptr<Routing> route(RoutingChoice const& choice, Health const& health) const override;

  protected:
    [[nodiscard]] LinkId fabric_links() const override { return static_cast<LinkId>(shape_.links.size()); }
    [[nodiscard]] int fabric_class(LinkId link) const override {
        return first_fabric_class + shape_.link_class[at(link)];
    }
    [[nodiscard]] Ends fabric_ends(LinkId link) const override { return shape_.links[at(link)]; }
    [[nodiscard]] std::string fabric_name(LinkId link) const override;

  private:
    GraphShape shape_;
};

}  // namespace octant::network
