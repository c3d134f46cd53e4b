#include "topology/two_level_kinds.hpp"

#include <algorithm>
#include <map>

namespace octant::network {

namespace {

// Digits to one number.
class Key {
  public:
    Key& add(std::uint64_t digit, std::uint64_t base) {
        value_ = value_ * base + digit;
        return *this;
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0;
};

constexpr std::uint64_t max_slots = 4096;  // 64 drawers of 64 octants

}  // namespace

TwoLevelKinds::TwoLevelKinds(TwoLevel const& net, LinkId fixed)
    : net_(net), slots_(net.shape().host_in_every_drawer ? net.shape().octants : net.octants_of_supernode()) {
    std::vector<int> hanging(at(slots_), 0), own(at(slots_), 0);
    for (int s = 0; s < net.shape().supernodes; ++s) ++hanging[at(host_octant_of(s))];
    if (fixed >= 0) {
        auto const [from, to] = net.ends(fixed);
        int number = 0;
        for (Vertex const end : {from, to}) {
            auto const [supernode, octant] = place(end);
            ends_[number++] = supernode;
            own[at(slot(octant))] = own[at(host_octant_of(supernode))] = 1;
        }
    }
    std::map<std::vector<int>, std::uint64_t> colours;
    for (int s = 0; s < slots_; ++s) {
        std::vector<int> look{own[at(s)] == 1 ? s : -1, hanging[at(s)], s / net.shape().octants};
        for (int octant = s; octant < net.octants_of_supernode(); octant += slots_) {
            look.push_back(std::ranges::count(net.shape().holes, octant) > 0 ? 1 : 0);
        }
        colour_.push_back(colours.try_emplace(look, colours.size()).first->second);
    }
}

TwoLevelKinds::Place TwoLevelKinds::place(Vertex vertex) const {
    return {vertex / net_.octants_of_supernode(), vertex % net_.octants_of_supernode()};
}

std::uint64_t TwoLevelKinds::of_vertex(Vertex vertex) const {
    auto const [supernode, octant] = place(vertex);
    int const hung = host_octant_of(supernode);
    return Key()
        .add(role(supernode), 3)
        .add(colour_[at(hung)], max_slots)
        .add(colour_[at(slot(octant))], max_slots)
        .add(at(octant / net_.shape().octants), max_slots)
        .add(hung == slot(octant) ? 1 : 0, 2)
        .value();
}

std::uint64_t TwoLevelKinds::of_fabric_link(LinkId link) const {
    auto const [from, to] = net_.ends(link);
    auto const [s, x] = place(from);
    auto const [t, y] = place(to);
    int const hung = host_octant_of(s);
    Key key;
    if (s != t) {
        int const lane = (link - net_.d_link(s, t, 0, 0));  // host and link of the gang
        return key.add(role(s), 3)
            .add(role(t), 3)
            .add(colour_[at(hung)], max_slots)
            .add(colour_[at(host_octant_of(t))], max_slots)
            .add(hung == host_octant_of(t) ? 1 : 0, 2)
            .add(at(lane), max_slots)
            .add(1, 2)
            .value();
    }
    return key.add(role(s), 3)
        .add(colour_[at(hung)], max_slots)
        .add(colour_[at(slot(x))], max_slots)
        .add(colour_[at(slot(y))], max_slots)
        .add(at(x / net_.shape().octants), 64)
        .add(at(y / net_.shape().octants), 64)
        .add((hung == slot(x) ? 1U : 0U) + (hung == slot(y) ? 2U : 0U) + (slot(x) == slot(y) ? 4U : 0U), 8)
        .add(0, 2)
        .value();
}

}  // namespace octant::network
