// Rings, halos, bisection and incast.
#include <algorithm>
#include <numeric>

#include "traffic/patterns.hpp"

namespace octant::network {

Flows ring(int ranks, std::uint64_t seed) {
    if (ranks < 2) throw std::invalid_argument("cannot make a ring of fewer than two ranks");
    require_ranks(ranks);
    std::vector<Node> order(at(ranks));
    std::iota(order.begin(), order.end(), 0);
    if (seed != 0) order = shuffled(ranks, seed);
    Flows flows;
    for (std::size_t i = 0; i < order.size(); ++i) {
        Node const right = order[(i + 1) % order.size()];
        flows.push(order[i], right);
        flows.push(right, order[i]);
    }
    return flows;
}

Flows halo(std::vector<int> const& sizes, bool periodic) {
    auto const ranks = static_cast<Node>(std::min(product("halo", "ranks along a side", sizes).value(), max_ranks + 1));
    require_ranks(ranks);
    Flows flows;
    for (Node r = 0; r < ranks; ++r) {
        Node stride = 1;
        for (int const size : sizes) {
            int const x = r / stride % size;
            for (int const step : {-1, 1}) {
                bool const inside = x + step >= 0 && x + step < size;
                if (size == 1 || (!inside && !periodic)) continue;
                flows.push(r, r + ((x + step + size) % size - x) * stride);
            }
            stride *= size;
        }
    }
    return flows;
}

Flows bisection(int ranks) {
    require_ranks(ranks);
    Flows flows;
    for (Node r = 0; r < ranks / 2; ++r) {
        flows.push(r, r + ranks / 2);
        flows.push(r + ranks / 2, r);
    }
    return flows;
}

Flows incast(int ranks, int target) {
    require_ranks(ranks);
    if (target < 0 || target >= ranks)
        throw std::invalid_argument("cannot send all to rank " + std::to_string(target) + " (no such rank)");
    Flows flows;
    for (Node r = 0; r < ranks; ++r) {
        if (r != target) flows.push(r, target);
    }
    return flows;
}

}  // namespace octant::network
