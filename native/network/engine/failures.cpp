// N-1: one cable after the other fails; only the flows that used it are routed again.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "engine/solvers.hpp"

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
    Sweep(Topology const& topology, RoutingChoice const& choice, Flows flows, Shape const& shape)
        : topology_(topology), flows_(std::move(flows)), capacity_(capacities(topology, Health{}, shape)) {
        whole_ = topology.route(choice, fine_);
        health_.scale.assign(at(topology.links()), 1.0);
        broken_ = topology.route(choice, health_);
        loads_.assign(at(topology.links()), 0.0);
        for (std::size_t f = 0; f < flows_.size(); ++f) {
            whole_->add(flows_.from[f], {&flows_.to[f], 1}, flows_.units[f], loads_);
        }
        order_.resize(loads_.size());
        std::iota(order_.begin(), order_.end(), 0);
        auto const rate = [this](LinkId link) { return capacity_[at(link)] / loads_[at(link)]; };
        std::erase_if(order_, [this](LinkId link) { return loads_[at(link)] <= 0; });
        std::stable_sort(order_.begin(), order_.end(), [&](LinkId a, LinkId b) { return rate(a) < rate(b); });
        changed_.assign(loads_.size(), 0.0);
        marked_.assign(loads_.size(), 0);
        total_ = std::accumulate(flows_.units.begin(), flows_.units.end(), 0.0);
    }

    void prepare(std::vector<LinkId> const& links, std::vector<LinkId> const& backs) {
        std::vector<char> wanted(loads_.size(), 0);
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
        touch(link);
        if (back >= 0) touch(back);
        Failure failure = tightest(link);
        failure.stalled = total_ > 0 ? dead / total_ : 0;
        for (LinkId const touched : touched_) {
            changed_[at(touched)] = 0;
            marked_[at(touched)] = 0;
        }
        touched_.clear();
        set(1.0);
        return failure;
    }

  private:
    void gather(LinkId link) {
        auto const begin = users_.flow.begin() + static_cast<std::ptrdiff_t>(users_.first[at(link)]);
        auto const end = users_.flow.begin() + static_cast<std::ptrdiff_t>(users_.first[at(link) + 1]);
        affected_.insert(affected_.end(), begin, end);
    }
    void touch(LinkId link) {
        if (marked_[at(link)]) return;
        marked_[at(link)] = 1;
        touched_.push_back(link);
    }
    // Adds a flow's shares to the changes; true when it still crosses a dead link.
    bool patch(Routing const& routing, std::uint32_t f, double units) {
        shares_.clear();
        routing.shares(flows_.from[f], flows_.to[f], shares_);
        bool dead = false;
        for (auto const& share : shares_) {
            touch(share.link);
            changed_[at(share.link)] += units * share.part;
            dead = dead || !health_.up(share.link);
        }
        return dead;
    }
    [[nodiscard]] Failure tightest(LinkId link) const {
        double best = unlimited;
        LinkId at_link = -1;
        auto const weigh = [&](LinkId candidate, double load) {
            if (load <= 1e-12 * std::max(1.0, loads_[at(candidate)])) return;  // what cancellation leaves is nothing
            double const rate = capacity_[at(candidate)] * health_.scale[at(candidate)] / load;
            if (rate >= best) return;
            best = rate;
            at_link = candidate;
        };
        for (LinkId const touched : touched_) weigh(touched, loads_[at(touched)] + changed_[at(touched)]);
        for (LinkId const calm : order_) {  // tightest first: the first that is not touched decides
            if (marked_[at(calm)]) continue;
            weigh(calm, loads_[at(calm)]);
            break;
        }
        return {link, best, at_link < 0 ? -1 : topology_.class_of(at_link), 0};
    }

    Topology const& topology_;
    Flows flows_;
    std::vector<double> capacity_;
    Health fine_, health_;
    std::unique_ptr<Routing> whole_, broken_;
    Users users_;
    std::vector<double> loads_, changed_;
    std::vector<char> marked_;
    std::vector<LinkId> order_, touched_;
    std::vector<std::uint32_t> affected_;
    std::vector<Share> shares_;
    double total_ = 0;
};

}  // namespace

std::vector<Failure> sweep_failures(Topology const& topology, RoutingChoice const& choice, Traffic const& traffic,
                                    Shape const& shape, std::vector<LinkId> const& links, double left) {
    check_traffic(traffic, topology);
    if (choice.policy == "recompute") {
        throw std::invalid_argument(
            "cannot sweep failures with recomputed routes (a table for every failure); "
            "try policy twin, spread or stall, or single failures");
    }
    for (LinkId const link : links) {
        if (link < topology.fabric() || link >= topology.links()) {
            throw std::invalid_argument("cannot let link " + std::to_string(link) + " fail (no such fabric link)");
        }
    }
    Sweep sweep(topology, choice, written_out(traffic), shape);
    auto const backs = opposites(topology, links);
    sweep.prepare(links, backs);
    std::vector<Failure> result;
    result.reserve(links.size());
    for (std::size_t i = 0; i < links.size(); ++i) result.push_back(sweep.fail(links[i], backs[i], left));
    return result;
}

}  // namespace octant::network
