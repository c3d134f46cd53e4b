// Frank-Wolfe over the splits of flows between two routings.
#include "engine/adaptive.hpp"

#include <algorithm>
#include <cmath>

#include "engine/work.hpp"

namespace octant::network {

namespace {

constexpr std::size_t max_shares = 30'000'000;

// The shares of all flows under one routing, flat.
struct Table {
    std::vector<std::size_t> first{0};
    std::vector<Share> shares{};
};

Table tabulate(Routing const& routing, Flows const& flows, Work& work) {
    Table table;
    for (std::size_t f = 0; f < flows.size(); ++f) {
        routing.shares(flows.from[f], flows.to[f], table.shares);
        table.first.push_back(table.shares.size());
        if (f % 1024 == 1023) work.advance(0);
        if (table.shares.size() > max_shares) {
            throw std::invalid_argument(
                "cannot split so many flows between two routings (more than 30 million shares); try a smaller --size, "
                "or compare both routings without a split: `octant model diff --routing`");
        }
    }
    return table;
}

class Balance {
  public:
    Balance(Flows const& flows, Table const& first, Table const& second, std::vector<double> const& capacity)
        : flows_(flows), ways_{&first, &second}, capacity_(capacity), price_(capacity.size(), 0.0) {
        load_.assign(capacity.size(), 0.0);
        for (std::size_t f = 0; f < flows.size(); ++f) put(load_, f, 0);
    }

    [[nodiscard]] double fullest(std::vector<double> const& load) const {
        double most = 0;
        for (std::size_t l = 0; l < load.size(); ++l) {
            if (load[l] > 0) most = std::max(most, load[l] / capacity_[l]);
        }
        return most;
    }

    // One Frank-Wolfe step; returns a lower bound of the fullest link's utilisation over all splits.
    double step(double exponent) {
        double const most = fullest(load_);
        double whole = 0;
        for (std::size_t l = 0; l < load_.size(); ++l) {
            double const use = load_[l] > 0 ? load_[l] / capacity_[l] / most : 0;
            price_[l] = use > 0 ? std::pow(use, exponent - 1) : 0;
            whole += price_[l];
            price_[l] /= capacity_[l];
        }
        std::vector<double> target(load_.size(), 0.0);
        double cheapest = 0, moved = 0;
        for (std::size_t f = 0; f < flows_.size(); ++f) {
            double const costs[] = {cost(f, 0), cost(f, 1)};
            int const way = costs[1] < costs[0] ? 1 : 0;
            cheapest += flows_.units[f] * costs[way];
            moved += way == 1 ? flows_.units[f] : 0;
            put(target, f, way);
        }
        double const gamma = best_step(target, exponent, most);
        for (std::size_t l = 0; l < load_.size(); ++l) load_[l] += gamma * (target[l] - load_[l]);
        second_ += gamma * (moved - second_);
        return cheapest / whole;
    }

    [[nodiscard]] std::vector<double> const& load() const { return load_; }
    [[nodiscard]] double on_second() const { return second_; }  // units

  private:
    [[nodiscard]] std::span<Share const> shares(std::size_t f, int way) const {
        Table const& table = *ways_[way];
        return {table.shares.data() + table.first[f], table.first[f + 1] - table.first[f]};
    }
    void put(std::vector<double>& load, std::size_t f, int way) const {
        for (auto const& share : shares(f, way)) load[at(share.link)] += flows_.units[f] * share.part;
    }
    [[nodiscard]] double cost(std::size_t f, int way) const {
        double sum = 0;
        for (auto const& share : shares(f, way)) sum += price_[at(share.link)] * share.part;
        return sum;
    }
    // The step that minimises the p-norm on the way to `target`: it is convex, so a golden-section search finds it.
    [[nodiscard]] double best_step(std::vector<double> const& target, double exponent, double scale) const {
        auto const norm = [&](double gamma) {
            double sum = 0;
            for (std::size_t l = 0; l < load_.size(); ++l) {
                double const load = load_[l] + gamma * (target[l] - load_[l]);
                if (load > 0) sum += std::pow(load / capacity_[l] / scale, exponent);
            }
            return sum;
        };
        double low = 0, high = 1;
        double const golden = 0.5 * (std::sqrt(5.0) - 1);
        for (int i = 0; i < 30; ++i) {
            double const a = high - golden * (high - low);
            double const b = low + golden * (high - low);
            (norm(a) <= norm(b) ? high : low) = norm(a) <= norm(b) ? b : a;
        }
        return low;
    }

    Flows const& flows_;
    Table const* ways_[2];
    std::vector<double> const& capacity_;
    std::vector<double> price_, load_;
    double second_ = 0;
};

}  // namespace

Adaptive solve_adaptive(Topology const& topology, Health const& health, Routing const& first, Routing const& second,
                        Traffic const& traffic, UnitCost const& shape, int rounds) {
    check_traffic(traffic, topology);
    Flows const flows = expand_flows(
        traffic, "a smaller --size, or compare both routings without a split: `octant model diff --routing`");
    auto const capacity = capacities(topology, health, shape);
    Work work(rounds + 1, "a smaller --size, or a --job on part of it");
    Table const one = tabulate(first, flows, work);
    Table const two = tabulate(second, flows, work);
    Balance balance(flows, one, two, capacity);
    Adaptive result{.answer = {.solver = "ideal adaptive"}, .max_rounds_per_s = unlimited, .elsewhere = 0};
    double best = unlimited, bound = 0;
    double total = 0;
    for (double const units : flows.units) total += units;
    for (int round = 0; round <= rounds; ++round) {
        double const now = balance.fullest(balance.load());
        if (now < best) {
            best = now;
            result.answer.loads = balance.load();
            result.elsewhere = total > 0 ? balance.on_second() / total : 0;
        }
        if (best == 0 || best - bound <= 1e-4 * best) break;
        bound = std::max(bound, balance.step(8.0 + 2.0 * round));
        work.advance();
    }
    rank(topology, health, shape, result.answer);
    result.max_rounds_per_s = bound > 0 ? std::max(1 / bound, result.answer.rounds_per_s) : unlimited;
    return result;
}

}  // namespace octant::network
