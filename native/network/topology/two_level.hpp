// Two fully connected levels (IBM Power 775): octants in drawers, drawers in supernodes, supernodes by D links.
#pragma once

#include "engine/network.hpp"

namespace octant::network {

struct TwoLevelShape {
    int supernodes = 1;
    int drawers = 4;                   // of a supernode
    int octants = 8;                   // of a drawer
    int gang = 2;                      // D links of one host octant to one other supernode
    bool host_in_every_drawer = true;  // else one host octant in the whole supernode
    bool block = false;                // hosts take supernodes in blocks, not round-robin
    int d_ports = 16;                  // of one octant
    std::vector<int> holes;  // octants of a supernode (0 … drawers × octants - 1) that send and receive nothing
};

class TwoLevel final : public Topology {
  public:
    TwoLevel(TwoLevelShape shape, std::vector<LinkClass> classes, SelfTraffic self);

    enum Class : int { l_local = first_fabric_class, l_remote, d };

    [[nodiscard]] TwoLevelShape const& shape() const { return shape_; }
    [[nodiscard]] int octants_of_supernode() const { return per_supernode_; }
    [[nodiscard]] int hosts() const { return hosts_; }  // host octants of one supernode for one other supernode
    [[nodiscard]] int links_of_pair() const { return hosts_ * shape_.gang; }

    // Octant (within its supernode) that holds D links to `supernode`, for a sender in `drawer`.
    [[nodiscard]] int host(int supernode, int drawer) const {
        int const among = shape_.host_in_every_drawer ? shape_.octants : per_supernode_;
        int const position = shape_.block ? supernode / block_ : supernode % among;
        return shape_.host_in_every_drawer ? drawer * shape_.octants + position : position;
    }
    // L link between two octants of one supernode.
    [[nodiscard]] LinkId l_link(int supernode, int from, int to) const {
        int const from_drawer = from / shape_.octants;
        int const to_drawer = to / shape_.octants;
        Node const node = supernode * per_supernode_ + from;
        if (from_drawer == to_drawer) {
            int const y = to % shape_.octants;
            return fabric() + node * (shape_.octants - 1) + (y - (y > from % shape_.octants ? 1 : 0));
        }
        int const other = to_drawer - (to_drawer > from_drawer ? 1 : 0);
        return fabric() + remote_ + node * (per_supernode_ - shape_.octants) + other * shape_.octants +
               to % shape_.octants;
    }
    // D link number `k` of the gang of host number `host` (a drawer, or 0) between two supernodes.
    [[nodiscard]] LinkId d_link(int from, int to, int host, int k) const {
        int const other = to - (to > from ? 1 : 0);
        return fabric() + d_ + ((from * (shape_.supernodes - 1) + other) * hosts_ + host) * shape_.gang + k;
    }

    [[nodiscard]] std::string node_name(Node node) const override;
    [[nodiscard]] std::string relation(Node from, Node to) const override;
    [[nodiscard]] std::unique_ptr<Routing> route(RoutingChoice const& choice, Health const& health) const override;
    [[nodiscard]] std::optional<std::vector<LoadGroup>> uniform(RoutingChoice const& choice,
                                                                std::vector<Node> const& active) const override;
    [[nodiscard]] std::unique_ptr<Kinds> kinds(std::vector<Node> const& active, LinkId fixed) const override;

  protected:
    [[nodiscard]] LinkId fabric_links() const override { return links_; }
    [[nodiscard]] int fabric_class(LinkId link) const override {
        return link < remote_ ? l_local : link < d_ ? l_remote : d;
    }
    [[nodiscard]] Ends fabric_ends(LinkId link) const override;
    [[nodiscard]] std::string fabric_name(LinkId link) const override;

  private:
    [[nodiscard]] bool all_compute(std::vector<Node> const& nodes) const;  // all octants but the holes
    [[nodiscard]] int alike(int supernode) const;  // another supernode with the same host octant

    TwoLevelShape shape_;
    int per_supernode_, hosts_, block_;
    LinkId remote_, d_, links_;  // first LR link, first D link, end; relative to the fabric
};

}  // namespace octant::network
