// N-1: one cable after the other fails; only the flows that used it are routed again.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "engine/load_changes.hpp"
#include "engine/recompute.hpp"

namespace octant::network {

namespace {

// Which flows use each link: one flat list.
struct Users {
    std::vector<std::size_t> first;
    std::vector<std::uint32_t> flow;
};

Users users(Topology const& topology, Routing const& routing, Flows const& flows, std::vector<char> const& wanted) {
    Users found;
    found.first.assign(at(topology.links()) + 1, 0);
    std::vector<Share> shares;
    auto const each = [&](auto&& sink) {
        for (std::size_t f = 0; f < flows.size(); ++f) {
            shares.clear();
            routing.shares(flows.from[f], flows.to[f], shares);
            for (auto const& share : shares) {
                if (wanted[at(share.link)]) sink(share.link, static_cast<std::uint32_t>(f));
            }
        }
    };
    each([&](LinkId link, std::uint32_t) { ++found.first[at(link) + 1]; });
    for (std::size_t l = 1; l < found.first.size(); ++l) found.first[l] += found.first[l - 1];
    found.flow.resize(found.first.back());
    auto fill = found.first;
    each([&](LinkId link, std::uint32_t f) { found.flow[fill[at(link)]++] = f; });
    return found;
}

// Both directions of a cable: the link and the opposite one between the same ends, gang for gang.
std::vector<LinkId> opposites(Topology const& topology, std::vector<LinkId> const& links) {
    struct Cable {
        Vertex low, high;
        bool up;
        LinkId link;
    };
    std::vector<Cable> cables;
    for (LinkId link = topology.fabric(); link < topology.links(); ++link) {
        auto const [from, to] = topology.ends(link);
        if (from != to) cables.push_back({std::min(from, to), std::max(from, to), from < to, link});
    }
    std::sort(cables.begin(), cables.end(), [](Cable const& a, Cable const& b) {
        return std::tuple(a.low, a.high, a.up, a.link) < std::tuple(b.low, b.high, b.up, b.link);
    });
    std::vector<LinkId> opposite(at(topology.links()), -1);
    for (std::size_t begin = 0; begin < cables.size();) {
        std::size_t end = begin, middle = begin;
        while (end < cables.size() && cables[end].low == cables[begin].low && cables[end].high == cables[begin].high) {
            if (!cables[end].up) ++middle;
            ++end;
        }
        for (std::size_t i = 0; begin + i < middle && middle + i < end; ++i) {
            opposite[at(cables[begin + i].link)] = cables[middle + i].link;
            opposite[at(cables[middle + i].link)] = cables[begin + i].link;
        }
        begin = end;
    }
    std::vector<LinkId> result;
    for (LinkId const link : links) result.push_back(opposite[at(link)]);
    return result;
}

class Sweep {
  public:
    Sweep(Topology const& topology, RoutingChoice const& choice, Flows flows, UnitCost const& shape)
        : topology_(topology), flows_(std::move(flows)), whole_(topology.route(choice, fine_)) {
        health_.scale.assign(at(topology.links()), 1.0);
        broken_ = topology.route(choice, health_);
        loads_ = {capacities(topology, Health{}, shape), std::vector<double>(at(topology.links()), 0.0), {}};
        for (std::size_t f = 0; f < flows_.size(); ++f) {
            whole_->add(flows_.from[f], {&flows_.to[f], 1}, flows_.units[f], loads_.loads);
        }
        loads_.rank();
        changes_ = std::make_unique<LoadChanges>(topology, loads_);
        total_ = std::accumulate(flows_.units.begin(), flows_.units.end(), 0.0);
    }

    void prepare(std::vector<LinkId> const& links, std::vector<LinkId> const& backs) {
        std::vector<char> wanted(loads_.loads.size(), 0);
        for (LinkId const link : links) wanted[at(link)] = 1;
        for (LinkId const back : backs) {
            if (back >= 0) wanted[at(back)] = 1;
        }
        users_ = users(topology_, *whole_, flows_, wanted);
    }

    Failure fail(LinkId link, LinkId back, double left) {
        auto const set = [&](double scale) {
            health_.scale[at(link)] = scale;
            if (back >= 0) health_.scale[at(back)] = scale;
        };
        set(left);
        affected_.clear();
        gather(link);
        if (back >= 0) gather(back);
        std::sort(affected_.begin(), affected_.end());
        affected_.erase(std::unique(affected_.begin(), affected_.end()), affected_.end());
        double dead = 0;
        for (std::uint32_t const f : affected_) {
            patch(*whole_, f, -flows_.units[f]);
            if (patch(*broken_, f, flows_.units[f])) dead += flows_.units[f];
        }
        Failure failure = changes_->tightest(link, back, left);
        failure.stalled = total_ > 0 ? dead / total_ : 0;
        set(1.0);
        return failure;
    }

  private:
    void gather(LinkId link) {
        auto const begin = users_.flow.begin() + static_cast<std::ptrdiff_t>(users_.first[at(link)]);
        auto const end = users_.flow.begin() + static_cast<std::ptrdiff_t>(users_.first[at(link) + 1]);
        affected_.insert(affected_.end(), begin, end);
    }
    // Adds a flow's shares to the changes; true when it still crosses a dead link.
    bool patch(Routing const& routing, std::uint32_t f, double units) {
        shares_.clear();
        routing.shares(flows_.from[f], flows_.to[f], shares_);
        bool dead = false;
        for (auto const& share : shares_) {
            changes_->add(share.link, units * share.part);
            dead = dead || !health_.up(share.link);
        }
        return dead;
    }
    Topology const& topology_;
    Flows flows_;
    Health fine_, health_;
    std::unique_ptr<Routing> whole_, broken_;
    Users users_;
    WholeLoads loads_;
    std::unique_ptr<LoadChanges> changes_;
    std::vector<std::uint32_t> affected_;
    std::vector<Share> shares_;
    double total_ = 0;
};

}  // namespace

std::vector<Failure> sweep_failures(Topology const& topology, RoutingChoice const& choice, Traffic const& traffic,
                                    UnitCost const& shape, std::vector<LinkId> const& links, double left) {
    check_traffic(traffic, topology);
    for (LinkId const link : links) {
        if (link < topology.fabric() || link >= topology.links()) {
            throw std::invalid_argument("cannot let link " + std::to_string(link) + " fail (no such fabric link)");
        }
    }
    auto const backs = opposites(topology, links);
    if (choice.policy == "recompute") return sweep_recomputed(topology, traffic, shape, links, backs, left);
    Sweep sweep(topology, choice, written_out(traffic), shape);
    sweep.prepare(links, backs);
    std::vector<Failure> result;
    result.reserve(links.size());
    for (std::size_t i = 0; i < links.size(); ++i) result.push_back(sweep.fail(links[i], backs[i], left));
    return result;
}

}  // namespace octant::network
