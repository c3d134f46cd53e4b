// Step programs of the common algorithms.
#include "traffic/collectives.hpp"

#include <bit>
#include <functional>
#include <numeric>

namespace octant::network {

namespace {

using Steps = std::vector<Flows>;

// One step in which every rank sends `bytes` to `to(rank)`; -1: nothing.
Flows step(int ranks, double bytes, std::function<Node(Node)> const& to) {
    Flows flows;
    for (Node r = 0; r < ranks; ++r) {
        if (Node const t = to(r); t >= 0 && t != r) flows.push(r, t, bytes);
    }
    return flows;
}

void require_power_of_two(std::string const& algorithm, int ranks) {
    if (std::has_single_bit(static_cast<unsigned>(ranks))) return;
    throw std::invalid_argument("cannot run '" + algorithm + "' on " + std::to_string(ranks) +
                                " ranks (not a power of two); try ring");
}

Steps alltoall_ring(int ranks, double bytes) {
    Steps steps;
    for (int k = 1; k < ranks; ++k) steps.push_back(step(ranks, bytes, [=](Node r) { return (r + k) % ranks; }));
    return steps;
}

Steps alltoall_pairwise(int ranks, double bytes) {
    require_power_of_two("pairwise", ranks);
    Steps steps;
    for (int k = 1; k < ranks; ++k) steps.push_back(step(ranks, bytes, [=](Node r) { return r ^ k; }));
    return steps;
}

// Everything at once.
Steps alltoall_linear(int ranks, double bytes) {
    Flows all;
    for (Node r = 0; r < ranks; ++r) {
        for (Node t = 0; t < ranks; ++t) {
            if (t != r) all.push(r, t, bytes);
        }
    }
    return {all};
}

Steps alltoall_bruck(int ranks, double bytes) {
    Steps steps;
    for (int k = 1; k < ranks; k *= 2) {
        int blocks = 0;  // those whose distance has this bit set travel now
        for (int distance = 1; distance < ranks; ++distance) blocks += distance & k ? 1 : 0;
        steps.push_back(step(ranks, bytes * blocks, [=](Node r) { return (r + k) % ranks; }));
    }
    return steps;
}

// Rank r's i-th partner is (stride_r × i) mod ranks, each rank with a stride of its own that is prime to their number.
Steps alltoall_prime_stride(int ranks, double bytes) {
    std::vector<int> strides;
    for (int candidate = 1; static_cast<int>(strides.size()) < ranks; ++candidate) {
        bool prime = candidate > 1;
        for (int d = 2; d * d <= candidate && prime; ++d) prime = candidate % d != 0;
        if (prime && std::gcd(candidate, ranks) == 1) strides.push_back(candidate);
    }
    Steps steps;
    for (int i = 0; i < ranks; ++i) {
        steps.push_back(step(ranks, bytes, [&, i](Node r) {
            return static_cast<Node>(static_cast<std::int64_t>(strides[at(r)]) * i % ranks);
        }));
    }
    return steps;
}

Steps ring_rounds(int ranks, double bytes, int rounds) {
    return Steps(at(rounds), step(ranks, bytes, [=](Node r) { return (r + 1) % ranks; }));
}

Steps recursive_doubling(int ranks, double bytes, bool growing) {
    require_power_of_two("recursive-doubling", ranks);
    Steps steps;
    for (int k = 1; k < ranks; k *= 2) {
        steps.push_back(step(ranks, growing ? bytes * k : bytes, [=](Node r) { return r ^ k; }));
    }
    return steps;
}

// Reduce-scatter by recursive halving, then allgather by recursive doubling.
Steps rabenseifner(int ranks, double bytes) {
    require_power_of_two("rabenseifner", ranks);
    Steps steps;
    double part = bytes / 2;
    for (int k = ranks / 2; k >= 1; k /= 2, part /= 2)
        steps.push_back(step(ranks, part, [=](Node r) { return r ^ k; }));
    auto const gather = recursive_doubling(ranks, bytes / ranks, true);
    steps.insert(steps.end(), gather.begin(), gather.end());
    return steps;
}

Steps binomial(int ranks, double bytes, bool towards_root) {
    Steps steps;
    for (int k = 1; k < ranks; k *= 2) {
        steps.push_back(step(ranks, bytes, [=](Node r) { return r < k && r + k < ranks ? r + k : -1; }));
    }
    if (!towards_root) return steps;
    Steps reversed(steps.rbegin(), steps.rend());
    for (Flows& flows : reversed) std::swap(flows.from, flows.to);
    return reversed;
}

Steps joined(Steps first, Steps const& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

// Every rank tells the one 2^k further on.
Steps dissemination(int ranks) {
    Steps steps;
    for (int k = 1; k < ranks; k *= 2) steps.push_back(step(ranks, 0, [=](Node r) { return (r + k) % ranks; }));
    return steps;
}

struct Program {
    std::string_view operation, algorithm;
    Steps (*steps)(int ranks, double bytes);
};

constexpr Program programs[] = {
    {"alltoall", "linear", alltoall_linear},
    {"alltoall", "ring", alltoall_ring},
    {"alltoall", "pairwise", alltoall_pairwise},
    {"alltoall", "bruck", alltoall_bruck},
    {"alltoall", "prime-stride", alltoall_prime_stride},
    {"allgather", "ring", [](int p, double b) { return ring_rounds(p, b, p - 1); }},
    {"allgather", "recursive-doubling", [](int p, double b) { return recursive_doubling(p, b, true); }},
    {"allreduce", "ring", [](int p, double b) { return ring_rounds(p, b / p, 2 * (p - 1)); }},
    {"allreduce", "recursive-doubling", [](int p, double b) { return recursive_doubling(p, b, false); }},
    {"allreduce", "rabenseifner", rabenseifner},
    {"allreduce", "binomial", [](int p, double b) { return joined(binomial(p, b, true), binomial(p, b, false)); }},
    {"broadcast", "binomial", [](int p, double b) { return binomial(p, b, false); }},
    {"reduce", "binomial", [](int p, double b) { return binomial(p, b, true); }},
    {"barrier", "dissemination", [](int p, double) { return dissemination(p); }},
};

}  // namespace

std::vector<Flows> collective(std::string const& operation, std::string const& algorithm, int ranks, double bytes) {
    if (ranks < 1 || !(bytes >= 0))
        throw std::invalid_argument("cannot run a collective on no ranks or with negative bytes");
    std::string known;
    for (auto const& program : programs) {
        if (program.operation == operation && program.algorithm == algorithm) return program.steps(ranks, bytes);
        known += (known.empty() ? "" : ", ") + std::string(program.operation) + " " + std::string(program.algorithm);
    }
    throw std::invalid_argument("cannot run '" + operation + "' by '" + algorithm + "' (no such program); try " +
                                known);
}

}  // namespace octant::network
