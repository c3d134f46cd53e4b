// Symmetric parts of the two-level network: supernodes on the same host octant, and octants of a drawer.
#pragma once

#include "engine/kinds.hpp"
#include "topology/two_level.hpp"

namespace octant::network {

// Supernodes that hang on the same host octant may change places, and so may two octants of a drawer (with hosts in
// every drawer: in all drawers at once) together with the supernodes that hang on them, where these are as many and
// neither is a hole. The ends of `fixed` (-1: none) stay where they are.
class TwoLevelKinds final : public Kinds {
  public:
    TwoLevelKinds(TwoLevel const& net, LinkId fixed);
    [[nodiscard]] std::uint64_t of_vertex(Vertex vertex) const override;
    [[nodiscard]] std::uint64_t of_fabric_link(LinkId link) const override;

  private:
    struct Place {
        int supernode, octant;
    };
    [[nodiscard]] Place place(Vertex vertex) const;
    [[nodiscard]] int slot(int octant) const { return octant % slots_; }  // the number that changes places
    [[nodiscard]] int host_octant_of(int supernode) const { return slot(net_.host(supernode, 0)); }
    // 0: as any other, 1 and 2: an end of the fixed link.
    [[nodiscard]] std::uint64_t role(int supernode) const {
        return supernode == ends_[0] ? 1 : supernode == ends_[1] ? 2 : 0;
    }

    TwoLevel const& net_;
    int slots_, ends_[2] = {-1, -1};
    std::vector<std::uint64_t> colour_;  // of every slot: equal where they may change places
};

}  // namespace octant::network
