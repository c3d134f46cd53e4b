// N-1: one cable after the other fails; only what used it is routed again, flow by flow or, of uniform traffic, all
// between two supernodes or groups at once.
#include <algorithm>
#include <tuple>

#include "engine/load_changes.hpp"
#include "engine/recompute.hpp"
#include "engine/uniform.hpp"
#include "engine/work.hpp"

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
        double stalled = 0;
        for (std::uint32_t const f : affected_) {
            patch(*whole_, f, -flows_.units[f]);
            stalled += flows_.units[f] * std::min(1.0, patch(*broken_, f, flows_.units[f]));
        }
        Failure failure = changes_->tightest(link, back, left);
        failure.stalled = stalled;
        set(1.0);
        return failure;
    }

  private:
    void gather(LinkId link) {
        auto const begin = users_.flow.begin() + static_cast<std::ptrdiff_t>(users_.first[at(link)]);
        auto const end = users_.flow.begin() + static_cast<std::ptrdiff_t>(users_.first[at(link) + 1]);
        affected_.insert(affected_.end(), begin, end);
    }
    // Adds a flow's shares to the changes; returns the part of it on links that are down.
    double patch(Routing const& routing, std::uint32_t f, double units) {
        double down = 0;
        shares_.clear();
        routing.shares(flows_.from[f], flows_.to[f], shares_);
        for (auto const& share : shares_) {
            changes_->add(share.link, units * share.part);
            if (!health_.up(share.link)) down += share.part;
        }
        return down;
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
};

// Uniform traffic whose loads are sums: those that depend on the cable are added up again.
class SweepOfSums {
  public:
    SweepOfSums(Topology const& topology, RoutingChoice const& choice, Traffic const& traffic, UnitCost const& shape,
                double left)
        : all_(topology.nodes(), traffic.active), left_(left), whole_(topology.route(choice, fine_)) {
        health_.scale.assign(at(topology.links()), 1.0);
        broken_ = topology.route(choice, health_);
        auto loads = uniform_loads(topology, *whole_, traffic.active);
        if (!loads) return;
        known_ = true;
        fixed_ = left > 0 || choice.policy == "stall";  // every route stays as it is
        loads_ = {capacities(topology, Health{}, shape), std::move(*loads), {}};
        loads_.rank();
        changes_ = std::make_unique<LoadChanges>(topology, loads_);
    }

    [[nodiscard]] bool can_fail(LinkId link) const {
        return known_ && (fixed_ || whole_->add_depending(all_, link, [](LinkId, double) {}));
    }

    Failure fail(LinkId link, LinkId back) {
        if (!fixed_) {
            add_depending(*whole_, link, back, -1);
            set(link, back, left_);
            add_depending(*broken_, link, back, 1);
            set(link, back, 1);
        }
        double stalled = 0;
        for (LinkId const down : {link, back}) {
            double const load = left_ > 0 || down < 0 ? 0.0 : changes_->load(down);
            if (load > 1e-12) stalled += load;  // not a residue of cancellation
        }
        Failure failure = changes_->tightest(link, back, left_);
        failure.stalled = stalled;
        return failure;
    }

  private:
    void set(LinkId link, LinkId back, double scale) {
        health_.scale[at(link)] = scale;
        if (back >= 0) health_.scale[at(back)] = scale;
    }
    void add_depending(Routing const& routing, LinkId link, LinkId back, double sign) {
        auto const sink = [this, sign](LinkId changed, double units) { changes_->add(changed, sign * units); };
        routing.add_depending(all_, link, sink);
        if (back >= 0) routing.add_depending(all_, back, sink);
    }

    UniformTraffic all_;
    double left_;
    Health fine_, health_;
    std::unique_ptr<Routing> whole_, broken_;
    bool known_ = false, fixed_ = false;
    WholeLoads loads_;
    std::unique_ptr<LoadChanges> changes_;
};

template <class Fail>
std::vector<Failure> each_fails(std::vector<LinkId> const& links, std::vector<LinkId> const& backs, Fail&& fail) {
    Work work(static_cast<double>(links.size()), "a smaller size, or --policy stall");
    std::vector<Failure> result;
    result.reserve(links.size());
    for (std::size_t i = 0; i < links.size(); ++i) {
        result.push_back(fail(links[i], backs[i]));
        work.advance();
    }
    return result;
}

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
    if (traffic.uniform && !links.empty()) {
        SweepOfSums sweep(topology, choice, traffic, shape, left);
        auto const fail = [&](LinkId link, LinkId back) { return sweep.fail(link, back); };
        if (sweep.can_fail(links.front())) return each_fails(links, backs, fail);
    }
    Sweep sweep(topology, choice, expand_flows(traffic, "a smaller --size"), shape);
    sweep.prepare(links, backs);
    return each_fails(links, backs, [&](LinkId link, LinkId back) { return sweep.fail(link, back, left); });
}

}  // namespace octant::network
