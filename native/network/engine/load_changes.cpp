#include "engine/load_changes.hpp"

#include <algorithm>
#include <numeric>

namespace octant::network {

void WholeLoads::rank() {
    tight.resize(loads.size());
    std::iota(tight.begin(), tight.end(), 0);
    std::erase_if(tight, [this](LinkId link) { return loads[at(link)] <= 0; });
    auto const rate = [this](LinkId link) { return capacity[at(link)] / loads[at(link)]; };
    std::ranges::stable_sort(tight, [&](LinkId a, LinkId b) { return rate(a) < rate(b); });
}

Failure LoadChanges::tightest(LinkId link, LinkId back, double left) {
    touch(link);
    if (back >= 0) touch(back);
    double best = unlimited;
    LinkId at_link = -1;
    auto const weigh = [&](LinkId candidate, double load) {
        // Residues of cancellation count as zero.
        if (load <= 1e-12 * std::max(1.0, whole_.loads[at(candidate)])) return;
        double const scale = candidate == link || candidate == back ? left : 1.0;
        double const rate = scale > 0 ? whole_.capacity[at(candidate)] * scale / load : 0.0;
        if (rate >= best) return;
        best = rate;
        at_link = candidate;
    };
    for (LinkId const touched : touched_) weigh(touched, whole_.loads[at(touched)] + changed_[at(touched)]);
    for (LinkId const calm : whole_.tight) {  // tightest first: the first that is not touched decides
        if (marked_[at(calm)]) continue;
        weigh(calm, whole_.loads[at(calm)]);
        break;
    }
    for (LinkId const touched : touched_) {
        changed_[at(touched)] = 0;
        marked_[at(touched)] = 0;
    }
    touched_.clear();
    return {link, best, at_link < 0 ? -1 : topology_.class_of(at_link)};
}

}  // namespace octant::network
