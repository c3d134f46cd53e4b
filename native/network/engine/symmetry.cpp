// Shortest paths of uniform traffic on symmetric networks: one destination, and one cable, of each kind.
#include <map>

#include "engine/detours.hpp"
#include "engine/kinds.hpp"
#include "engine/recompute.hpp"
#include "engine/symmetry.hpp"
#include "engine/uniform.hpp"
#include "engine/work.hpp"

namespace octant::network {

namespace {

// Hops to one destination, and the traffic that passes on the way there.
class Destination {
  public:
    Destination(Fabric const& fabric, std::vector<Node> const& active)
        : fabric_(fabric), active_(active), hops_(fabric.vertices()), passing_(fabric.vertices()) {}

    template <class Sink>
    void measure(Node target, Sink&& sink) {
        fabric_.measure(target, hops_, order_);
        passing_.assign(hops_.size(), 0.0);
        for (Node const source : active_) {
            if (hops_[at(source)] == Fabric::unreachable)
                throw std::invalid_argument(
                    "cannot route all traffic (some nodes are not connected); try `octant model export` to see what "
                    "its links join");
            passing_[at(source)] = 1 / static_cast<double>(active_.size());
        }
        fabric_.spread(target, hops_, order_, passing_, sink);
    }
    [[nodiscard]] std::span<std::uint16_t const> hops() const { return hops_; }
    [[nodiscard]] std::span<double const> passing() const { return passing_; }

  private:
    Fabric const& fabric_;
    std::vector<Node> const& active_;
    std::vector<std::uint16_t> hops_;
    std::vector<double> passing_;
    std::vector<Vertex> order_;
};

}  // namespace

// The images of a destination's load lie evenly on the links of each kind.
bool add_symmetric_loads(Topology const& topology, Fabric const& fabric, std::vector<Node> const& active,
                         std::span<double> loads) {
    auto const kinds = topology.kinds(active, -1);
    if (!kinds) return false;
    KindsOfLinks const links(topology, *kinds);
    std::vector<double> sum(links.first.size(), 0.0);
    Destination destination(fabric, active);
    for (auto const& [target, images] : kinds_of_nodes(*kinds, active)) {
        destination.measure(target,
                            [&, count = images](LinkId link, double units) { sum[links.of(link)] += units * count; });
    }
    for (LinkId link = topology.fabric(); link < topology.links(); ++link)
        loads[at(link)] += sum[links.of(link)] / links.links[links.of(link)];
    return true;
}

namespace {

class SymmetricNetwork {
  public:
    SymmetricNetwork(Topology const& topology, Traffic const& traffic, UnitCost const& shape, double left)
        : topology_(topology),
          active_(traffic.active),
          left_(left),
          fabric_(topology, Health{}),
          capacity_(capacities(topology, Health{}, shape)),
          loads_(at(topology.links()), 0.0) {
        add_symmetric_loads(topology, fabric_, active_, loads_);
        load_endpoints(topology, active_, loads_);
    }

    Failure fail(LinkId link, LinkId back) const {
        KindsOfLinks const links(topology_, *topology_.kinds(active_, link));
        std::vector<double> change(links.first.size(), 0.0);
        double const dead = left_ == 0 ? detour(link, back, links, change) : 0;
        if (dead > 1e-12 * static_cast<double>(active_.size())) return {link, 0, topology_.class_of(link), dead};
        Failure worst{link, unlimited, -1};
        auto const weigh = [&](LinkId one, double load) {
            if (load <= 1e-12 * std::max(1.0, loads_[at(one)])) return;
            double const scale = one == link || one == back ? left_ : 1.0;
            double const rate = scale > 0 ? capacity_[at(one)] * scale / load : 0.0;
            if (rate < worst.rounds_per_s) worst = {link, rate, topology_.class_of(one)};
        };
        for (LinkId end = 0; end < topology_.fabric(); ++end) weigh(end, loads_[at(end)]);
        for (std::size_t k = 0; k < links.first.size(); ++k)
            weigh(links.first[k], loads_[at(links.first[k])] + change[k] / links.links[k]);
        return worst;
    }

  private:
    // Returns the units that have no way left.
    double detour(LinkId link, LinkId back, KindsOfLinks const& links, std::vector<double>& change) const {
        double images = 0, dead = 0;
        Detours detours(topology_, fabric_,
                        [&](LinkId changed, double units) { change[links.of(changed)] += units * images; });
        detours.cut(link, back);
        Destination destination(fabric_, active_);
        for (auto const& [target, count] : kinds_of_nodes(*topology_.kinds(active_, link), active_)) {
            images = count;
            std::vector<LinkId> used;
            destination.measure(target, [&](LinkId one, double) {
                if (one == link || one == back) used.push_back(one);
            });
            for (LinkId const gone : used)
                dead += images * detours.around(gone, target, destination.hops(), destination.passing());
        }
        return dead;
    }

    Topology const& topology_;
    std::vector<Node> const& active_;
    double left_;
    Fabric fabric_;
    std::vector<double> capacity_, loads_;
};

}  // namespace

std::optional<std::vector<Failure>> sweep_symmetric_failures(Topology const& topology, Traffic const& traffic,
                                                             UnitCost const& shape, std::vector<LinkId> const& links,
                                                             std::vector<LinkId> const& backs, double left) {
    auto const kinds = traffic.uniform ? topology.kinds(traffic.active, -1) : nullptr;
    if (!kinds) return std::nullopt;
    std::map<std::uint64_t, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < links.size(); ++i) alike[kinds->of_fabric_link(links[i])].push_back(i);
    SymmetricNetwork const network(topology, traffic, shape, left);
    std::vector<Failure> result(links.size());
    Work work(static_cast<double>(alike.size()), "a smaller size, or --policy spread");
    for (auto const& [kind, members] : alike) {
        Failure found = network.fail(links[members.front()], backs[members.front()]);
        for (std::size_t const i : members) {
            found.link = links[i];
            result[i] = found;
        }
        work.advance();
    }
    return result;
}

}  // namespace octant::network
