// Permutations: every rank sends to one rank and receives from one.
#include <bit>
#include <numeric>

#include "engine/routing.hpp"
#include "traffic/patterns.hpp"

namespace octant::network {

namespace {

[[noreturn]] void refuse(std::string const& name, int ranks, std::string const& reason) {
    throw std::invalid_argument("cannot make pattern '" + name + "' of " + std::to_string(ranks) + " ranks (" + reason +
                                ")");
}

Node bit_reversed(Node rank, int bits) {
    Node result = 0;
    for (int b = 0; b < bits; ++b) result |= ((rank >> b) & 1) << (bits - 1 - b);
    return result;
}

int root_of(std::string const& name, int ranks) {
    int root = 1;
    while (root * root < ranks) ++root;
    if (root * root != ranks) refuse(name, ranks, "it needs a square number");
    return root;
}

}  // namespace

void require_ranks(std::int64_t ranks) {
    if (ranks >= 1 && ranks <= max_ranks) return;
    throw std::invalid_argument("cannot make traffic of " + std::to_string(ranks) + " ranks; try 1 to " +
                                std::to_string(max_ranks));
}

std::vector<Node> shuffled(int count, std::uint64_t seed) {
    std::vector<Node> order(at(count));
    std::iota(order.begin(), order.end(), 0);
    std::uint64_t state = mix(seed ^ 0x6f6374616e74ULL);
    for (std::size_t left = order.size(); left > 1; --left) {
        state = mix(state);
        std::swap(order[left - 1], order[state % left]);
    }
    return order;
}

Flows permutation(std::string const& name, int ranks, std::int64_t parameter) {
    require_ranks(ranks);
    Flows flows;
    auto const each = [&](auto&& to) {
        for (Node r = 0; r < ranks; ++r) flows.push(r, to(r));
    };
    if (name == "shift") {
        auto const by = static_cast<Node>(((parameter % ranks) + ranks) % ranks);
        each([&](Node r) { return (r + by) % ranks; });
    } else if (name == "reverse") {
        each([&](Node r) { return ranks - 1 - r; });
    } else if (name == "tornado") {
        each([&](Node r) { return (r + (ranks + 1) / 2 - 1) % ranks; });
    } else if (name == "transpose") {
        int const root = root_of(name, ranks);
        each([&](Node r) { return r % root * root + r / root; });
    } else if (name == "bit-reverse") {
        if (!std::has_single_bit(static_cast<unsigned>(ranks))) refuse(name, ranks, "it needs a power of two");
        int const bits = std::countr_zero(static_cast<unsigned>(ranks));
        each([&](Node r) { return bit_reversed(r, bits); });
    } else if (name == "random") {
        auto const order = shuffled(ranks, static_cast<std::uint64_t>(parameter));
        each([&](Node r) { return order[at(r)]; });
    } else {
        refuse(name, ranks, "known are shift, transpose, reverse, tornado, bit-reverse and random");
    }
    return flows;
}

}  // namespace octant::network
