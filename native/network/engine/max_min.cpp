// Max-min fairness by progressive filling, and fluid completion on top of it.
#include <algorithm>
#include <cmath>
#include <queue>

#include "engine/solvers.hpp"
#include "engine/work.hpp"

namespace octant::network {

namespace {

constexpr std::size_t max_shares = 200'000'000;  // links of all flows, up to 24 bytes each
constexpr char const* without_rates = "a smaller --size, or --solver auto";
constexpr std::size_t check_interval = 1024;  // flows between two updates of the work

// Which links each flow uses and which flows each link carries; both as one flat list with offsets.
struct Incidence {
    std::vector<std::size_t> flow_first, link_first;
    std::vector<LinkId> flow_link;
    std::vector<double> part;  // empty: every part is one
    std::vector<std::uint32_t> link_flow;
    std::vector<double> link_part;  // `part` in the order of link_flow
};

// Does half of a step of `work` per flow, times `weight`.
Incidence incidence(Topology const& topology, Routing const& routing, Flows const& flows, Work& work, double weight) {
    Incidence in;
    in.flow_first.reserve(flows.size() + 1);
    in.flow_first.push_back(0);
    bool whole = true;
    std::vector<Share> shares;
    for (std::size_t f = 0; f < flows.size(); ++f) {
        shares.clear();
        routing.shares(flows.from[f], flows.to[f], shares);
        for (auto const& share : shares) {
            in.flow_link.push_back(share.link);
            if (whole && share.part != 1.0) {
                in.part.assign(in.flow_link.size() - 1, 1.0);
                whole = false;
            }
            if (!whole) in.part.push_back(share.part);
        }
        in.flow_first.push_back(in.flow_link.size());
        if (f % check_interval == check_interval - 1) work.advance(weight / 2 * check_interval);
        if (in.flow_link.size() > max_shares) {
            throw std::invalid_argument(
                std::string("cannot share links among so many flows (on more than 200 million links in all); try ") +
                without_rates);
        }
    }
    in.link_first.assign(at(topology.links()) + 1, 0);
    for (LinkId const link : in.flow_link) ++in.link_first[at(link) + 1];
    for (std::size_t l = 1; l < in.link_first.size(); ++l) in.link_first[l] += in.link_first[l - 1];
    auto fill = in.link_first;
    in.link_flow.resize(in.flow_link.size());
    in.link_part.resize(in.part.size());
    for (std::size_t f = 0; f < flows.size(); ++f) {
        for (std::size_t i = in.flow_first[f]; i < in.flow_first[f + 1]; ++i) {
            std::size_t const slot = fill[at(in.flow_link[i])]++;
            in.link_flow[slot] = static_cast<std::uint32_t>(f);
            if (!in.part.empty()) in.link_part[slot] = in.part[i];
        }
    }
    return in;
}

struct Level {
    double rate;  // at which the link is full
    LinkId link;
    friend bool operator>(Level const& a, Level const& b) {
        return std::pair(a.rate, a.link) > std::pair(b.rate, b.link);
    }
};

// Progressive filling: all flows grow at the same rate, and a full link freezes its flows. The level of a link only
// rises when others freeze, so a stale entry of the heap is reinserted with its new level. `open` marks the flows that
// take part. Counts half of a step of `work` per flow, times `weight`.
void fill(Incidence const& in, std::vector<double> const& capacity, std::vector<char> open, std::vector<double>& rates,
          Work& work, double weight) {
    std::size_t const links = capacity.size();
    std::vector<double> left = capacity;
    std::vector<double> wanted(links, 0.0);
    std::vector<std::uint32_t> unfrozen(links, 0);
    for (std::size_t l = 0; l < links; ++l) {
        for (std::size_t i = in.link_first[l]; i < in.link_first[l + 1]; ++i) {
            if (!open[in.link_flow[i]]) continue;
            wanted[l] += in.link_part.empty() ? 1.0 : in.link_part[i];
            ++unfrozen[l];
        }
    }
    auto const level = [&](std::size_t l) { return std::max(0.0, left[l]) / wanted[l]; };
    std::vector<Level> entries;
    for (std::size_t l = 0; l < links; ++l) {
        if (unfrozen[l] > 0 && std::isfinite(capacity[l])) entries.push_back({level(l), static_cast<LinkId>(l)});
    }
    std::priority_queue heap(std::greater<>{}, std::move(entries));
    std::fill(rates.begin(), rates.end(), unlimited);
    std::size_t frozen = 0, levels = 0;
    while (!heap.empty()) {
        if (++levels % check_interval == 0) work.advance(0);
        auto const [rate, link] = heap.top();
        heap.pop();
        std::size_t const l = at(link);
        if (unfrozen[l] == 0) continue;
        if (double const now = level(l); now > rate) {
            heap.push({now, link});
            continue;
        }
        for (std::size_t i = in.link_first[l]; i < in.link_first[l + 1]; ++i) {
            std::uint32_t const f = in.link_flow[i];
            if (!open[f]) continue;
            open[f] = 0;
            rates[f] = rate;
            if (++frozen % check_interval == 0) work.advance(weight / 2 * check_interval);
            for (std::size_t j = in.flow_first[f]; j < in.flow_first[f + 1]; ++j) {
                std::size_t const other = at(in.flow_link[j]);
                double const part = in.part.empty() ? 1.0 : in.part[j];
                left[other] -= rate * part;
                wanted[other] -= part;
                --unfrozen[other];
            }
        }
    }
}

Solution loads_of(Topology const& topology, Health const& health, Incidence const& in, Flows const& flows,
                  UnitCost const& shape) {
    Solution answer;
    answer.loads.assign(at(topology.links()), 0.0);
    double dead = 0, all = 0;
    for (std::size_t f = 0; f < flows.size(); ++f) {
        bool up = true;
        for (std::size_t i = in.flow_first[f]; i < in.flow_first[f + 1]; ++i) {
            answer.loads[at(in.flow_link[i])] += flows.units[f] * (in.part.empty() ? 1.0 : in.part[i]);
            up = up && health.up(in.flow_link[i]);
        }
        all += flows.units[f];
        dead += up ? 0 : flows.units[f];
    }
    answer.stalled = all > 0 ? dead / all : 0;
    rank(topology, health, shape, answer);
    return answer;
}

// Filling costs as much as flows are open, so with as many ending each time the work is the square of their number.
// The first completions do not predict the total number.
class FluidWork {
  public:
    explicit FluidWork(Flows const& flows)
        : open_(static_cast<double>(flows.size())),
          work_(open_ * open_, "fewer sizes of flows, a smaller size, or --solver max-min") {}

    [[nodiscard]] Work& whole() { return work_; }
    void filled(std::vector<char> const& open) {
        if (++fills_ % fills_at_once != 0) return;
        auto const left = static_cast<double>(std::count(open.begin(), open.end(), 1));
        work_.advance(open_ * open_ - left * left);
        open_ = left;
    }

  private:
    static constexpr int fills_at_once = 16;
    int fills_ = 0;
    double open_;
    Work work_;
};

}  // namespace

Solution solve_max_min(Topology const& topology, Health const& health, Routing const& routing, Traffic const& traffic,
                       UnitCost const& shape) {
    check_traffic(traffic, topology);
    Flows const listed = traffic.uniform ? expand_flows(traffic, without_rates) : Flows{};
    Flows const& flows = traffic.uniform ? listed : traffic.flows;
    Work work(static_cast<double>(flows.size()), without_rates);
    Incidence const in = incidence(topology, routing, flows, work, 1);
    Solution answer = loads_of(topology, health, in, flows, shape);
    answer.solver = "max-min";
    answer.rates.assign(flows.size(), 0.0);
    std::vector<char> open(flows.size());  // a flow of nothing takes no share
    for (std::size_t f = 0; f < flows.size(); ++f) open[f] = flows.units[f] > 0 ? 1 : 0;
    fill(in, capacities(topology, health, shape), std::move(open), answer.rates, work, 1);
    double slowest_s = 0;  // the round is over when the flow that needs longest at its rate is through
    for (std::size_t f = 0; f < flows.size(); ++f) {
        if (flows.units[f] > 0) slowest_s = std::max(slowest_s, flows.units[f] / answer.rates[f]);
    }
    answer.rounds_per_s = slowest_s > 0 ? 1 / slowest_s : unlimited;
    return answer;
}

Solution solve_fluid(Topology const& topology, Health const& health, Routing const& routing, Traffic const& traffic,
                     UnitCost const& shape) {
    check_traffic(traffic, topology);
    Flows const flows = expand_flows(traffic, without_rates);
    FluidWork work(flows);
    Incidence const in = incidence(topology, routing, flows, work.whole(), 0);
    Solution answer = loads_of(topology, health, in, flows, shape);
    answer.solver = "fluid";
    auto const capacity = capacities(topology, health, shape);
    std::vector<double> left = flows.units;
    std::vector<char> open(flows.size());
    for (std::size_t f = 0; f < flows.size(); ++f) open[f] = left[f] > 0 ? 1 : 0;
    std::vector<double> rates(flows.size());
    double now_s = 0;
    while (std::find(open.begin(), open.end(), 1) != open.end()) {
        fill(in, capacity, open, rates, work.whole(), 0);
        if (answer.rates.empty()) answer.rates = rates;
        double next_s = unlimited;
        for (std::size_t f = 0; f < flows.size(); ++f) {
            if (open[f]) next_s = std::min(next_s, left[f] / rates[f]);
        }
        if (std::isinf(next_s)) break;  // what is left is stalled
        for (std::size_t f = 0; f < flows.size(); ++f) {
            if (!open[f]) continue;
            double const sent = std::isinf(rates[f]) ? left[f] : rates[f] * next_s;
            // Flows that end within a billionth of one another end together: else rounding makes steps of their own.
            left[f] = left[f] > sent * (1 + 1e-9) ? left[f] - sent : 0;
            open[f] = left[f] > 0 ? 1 : 0;
        }
        now_s += next_s;
        work.filled(open);
    }
    bool const stuck = std::find(open.begin(), open.end(), 1) != open.end();
    answer.rounds_per_s = stuck ? 0 : now_s > 0 ? 1 / now_s : unlimited;
    return answer;
}

}  // namespace octant::network
