// Loads of a healthy network, and their changes after one failure: only affected links are recomputed.
#pragma once

#include "engine/solvers.hpp"

namespace octant::network {

// Loads and capacities of every link, and the loaded links from tight to roomy.
struct WholeLoads {
    std::vector<double> capacity, loads;
    std::vector<LinkId> tight;

    void rank();
};

class LoadChanges {
  public:
    LoadChanges(Topology const& topology, WholeLoads const& whole)
        : topology_(topology), whole_(whole), changed_(whole.loads.size(), 0.0), marked_(whole.loads.size(), 0) {}

    void add(LinkId link, double units) {
        touch(link);
        changed_[at(link)] += units;
    }
    [[nodiscard]] double load(LinkId link) const { return whole_.loads[at(link)] + changed_[at(link)]; }
    // The bottleneck if `link` (and `back`, unless -1) keep `left` of their capacity; discards the changes.
    [[nodiscard]] Failure tightest(LinkId link, LinkId back, double left);

  private:
    void touch(LinkId link) {
        if (marked_[at(link)]) return;
        marked_[at(link)] = 1;
        touched_.push_back(link);
    }

    Topology const& topology_;
    WholeLoads const& whole_;
    std::vector<double> changed_;
    std::vector<char> marked_;
    std::vector<LinkId> touched_;
};

}  // namespace octant::network
