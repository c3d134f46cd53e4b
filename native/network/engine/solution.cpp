#include "engine/solution.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "engine/work.hpp"

namespace octant::network {

namespace {

constexpr double same = 1e-9;  // loads nearer than that are called equal

void consider(std::vector<Bottleneck>& worst, int kind, LinkId link, double load, double capacity, double links) {
    Bottleneck& held = worst[at(kind)];
    double const rounds = capacity / load;
    if (held.link >= 0 && rounds > held.rounds_per_s * (1 - same) && rounds < held.rounds_per_s * (1 + same)) {
        held.links += links;
        return;
    }
    if (held.link >= 0 && rounds >= held.rounds_per_s) return;
    held = {kind, link, load, capacity, rounds, false, links};
}

}  // namespace

void rank(Topology const& topology, Health const& health, UnitCost const& shape, Solution& answer) {
    auto const& classes = topology.classes();
    std::vector<Limit> limits;
    for (std::size_t c = 0; c < classes.size(); ++c)
        limits.push_back(limit_of(classes[c], c < first_fabric_class, shape));
    std::vector<Bottleneck> worst(classes.size(), {0, -1, 0, 0, unlimited, false, 0});
    auto const weigh = [&](LinkId link, double load, double links) {
        int const kind = topology.class_of(link);
        if (load <= 0 || std::isinf(limits[at(kind)].units_per_s)) return;  // what has no limit holds nothing back
        double const left = health.left(link);
        consider(worst, kind, link, load, left > 0 ? limits[at(kind)].units_per_s * left : 0, links);
    };
    for (auto const& group : answer.groups) weigh(group.link, group.load, group.links);
    for (std::size_t link = 0; link < answer.loads.size(); ++link)
        weigh(static_cast<LinkId>(link), answer.loads[link], 1);

    answer.bottlenecks.clear();
    for (auto& held : worst) {
        if (held.link < 0) continue;
        held.packets = limits[at(held.link_class)].packets;
        answer.bottlenecks.push_back(held);
    }
    auto const key = [](Bottleneck const& held) {  // of equals, links come before endpoints
        return std::tuple(held.rounds_per_s, held.link_class < first_fabric_class, held.link_class);
    };
    auto const tighter = [&key](Bottleneck const& a, Bottleneck const& b) { return key(a) < key(b); };
    std::sort(answer.bottlenecks.begin(), answer.bottlenecks.end(), tighter);
    answer.rounds_per_s = answer.bottlenecks.empty() ? unlimited : answer.bottlenecks.front().rounds_per_s;
}

std::vector<Cause> causes(Topology const& topology, Routing const& routing, Traffic const& traffic, LinkId link) {
    std::map<std::tuple<std::string, int, int>, double> found;
    std::vector<Share> shares;
    std::vector<LinkId> path;
    // Shares are not sorted: the hop is found on a path that uses the link.
    auto const hop_of = [&](Node s, Node t) {
        for (std::uint64_t draw = 0; draw < 256; ++draw) {
            path.clear();
            routing.path(s, t, draw, path);
            auto const place = std::find(path.begin(), path.end(), link);
            if (place != path.end()) return static_cast<int>(place - path.begin());
        }
        return -1;
    };
    Flows const& flows = traffic.flows;
    std::size_t const n = traffic.active.size(), pairs = traffic.uniform ? n * n : flows.size();
    Work work(static_cast<double>(pairs), "a smaller --size");
    std::size_t seen = 0;
    auto const look = [&](Node s, Node t, double units, int job) {
        constexpr std::size_t check_interval = 64;
        if (++seen % check_interval == 0) work.advance(check_interval);
        shares.clear();
        routing.shares(s, t, shares);
        double carried = 0;
        for (auto const& share : shares) {
            if (share.link == link) carried += units * share.part;
        }
        if (carried > 0) found[{topology.relation(s, t), hop_of(s, t), job}] += carried;
    };
    if (traffic.uniform) {
        double const each = 1.0 / static_cast<double>(n);
        for (Node const s : traffic.active) {
            for (Node const t : traffic.active) look(s, t, each, 0);
        }
    } else {
        for (std::size_t f = 0; f < flows.size(); ++f) {
            look(flows.from[f], flows.to[f], flows.units[f], flows.job.empty() ? 0 : flows.job[f]);
        }
    }
    std::vector<Cause> result;
    for (auto const& [key, units] : found) {
        result.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), units});
    }
    std::stable_sort(result.begin(), result.end(), [](Cause const& a, Cause const& b) { return a.units > b.units; });
    return result;
}

}  // namespace octant::network
