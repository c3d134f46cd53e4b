// Independent points in parallel; each result has its own place, so order and threads do not matter.
#include "engine/monte_carlo.hpp"

#include <cmath>

#include "engine/work.hpp"

namespace octant::network {

std::vector<double> fail_at_random(Topology const& topology, RoutingChoice const& choice, Traffic const& traffic,
                                   UnitCost const& shape, std::vector<LinkId> const& links, int count, double left,
                                   int trials, std::uint64_t seed) {
    if (count < 0 || at(count) > links.size()) {
        throw std::invalid_argument("cannot fail " + std::to_string(count) + " links (there are " +
                                    std::to_string(links.size()) + "); try --random 1 to " +
                                    std::to_string(links.size()));
    }
    check_traffic(traffic, topology);
    std::vector<double> result(at(trials));
    Work work(trials, "fewer --trials or a smaller --size");
#pragma omp parallel for schedule(dynamic)
    for (int trial = 0; trial < trials; ++trial) {
        if (!work.try_advance(0)) continue;
        Health health;
        health.scale.assign(at(topology.links()), 1.0);
        auto pool = links;
        std::uint64_t state = mix(seed * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(trial));
        for (int k = 0; k < count; ++k) {  // a partial shuffle: every set equally likely
            state = mix(state);
            std::size_t const rest = pool.size() - at(k);
            std::swap(pool[at(k)], pool[at(k) + state % rest]);
            health.scale[at(pool[at(k)])] = left;
        }
        try {
            auto const routing = topology.route(choice, health);
            result[at(trial)] = solve_every_link(topology, health, *routing, traffic, shape).rounds_per_s;
        } catch (Stopped const&) {                // reported below
        } catch (std::invalid_argument const&) {  // exceptions must not leave the parallel region
            result[at(trial)] = std::nan("");
        }
        work.try_advance();
    }
    work.check();
    return result;
}

std::vector<double> solve_each(Topology const& topology, Health const& health, Routing const& routing,
                               std::vector<Traffic> const& traffics, UnitCost const& shape) {
    for (auto const& traffic : traffics) check_traffic(traffic, topology);
    std::vector<double> result(traffics.size());
    Work work(static_cast<double>(traffics.size()), "a smaller size");
    std::exception_ptr why;
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < traffics.size(); ++i) {
        if (!work.try_advance(0)) continue;
        try {
            result[i] = solve_every_link(topology, health, routing, traffics[i], shape).rounds_per_s;
        } catch (...) {  // exceptions must not leave the parallel region
#pragma omp critical
            why = std::current_exception();
        }
        work.try_advance();
    }
    work.check();
    if (why) std::rethrow_exception(why);
    return result;
}

}  // namespace octant::network
