// Programs of the common algorithms. Where ranks are no power of two, those left over first hand their part to a
// partner and wait for its result (Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in
// MPICH, 2005, section 4).
#include "traffic/collectives.hpp"

#include <bit>
#include <memory>
#include <numeric>

namespace octant::network {

namespace {

using Step = CollectiveStep;
using Steps = std::vector<Step>;

// One step in which every rank sends `pieces` to `to(rank)`; -1: nothing.
Step every_rank(int ranks, double pieces, std::function<int(int)> to, int cut = 1) {
    return {.messages =
                [=, to = std::move(to)](Visit const& visit) {
                    for (int r = 0; r < ranks; ++r) {
                        if (int const t = to(r); t >= 0 && t != r) visit(r, t, pieces);
                    }
                },
            .cut = cut,
            .size = ranks};
}

Step shift(int ranks, int distance, double pieces, int cut = 1) {
    return every_rank(ranks, pieces, [=](int r) { return (r + distance) % ranks; }, cut);
}

Steps joined(Steps first, Steps const& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

Step mirrored(Step step) {
    step.messages = [messages = std::move(step.messages)](Visit const& visit) {
        messages([&visit](int from, int to, double pieces) { visit(to, from, pieces); });
    };
    return step;
}

// The same messages backwards, last step first.
Steps reversed(Steps const& steps) {
    Steps result;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) result.push_back(mirrored(*step));
    return result;
}

// The largest power of two among ranks, and those left over: of the first 2 × `rest` ranks the odd ones take part, for
// themselves and the one before them.
struct Folded {
    int ranks, core = 1, rest = 0;
    explicit Folded(int count) : ranks(count) {
        while (2 * core <= count) core *= 2;
        rest = count - core;
    }
    [[nodiscard]] int rank_of(int member) const { return member < rest ? 2 * member + 1 : member + rest; }
    [[nodiscard]] int parts_of(int member) const { return member < rest ? 2 : 1; }
    // Messages of the remaining ranks to their partners.
    [[nodiscard]] Steps hand_over(double pieces, int cut = 1) const {
        if (rest == 0) return {};
        return {every_rank(2 * rest, pieces, [](int r) { return r % 2 == 0 ? r + 1 : -1; }, cut)};
    }
    [[nodiscard]] Steps hand_back(double pieces, int cut = 1) const { return reversed(hand_over(pieces, cut)); }
    // An exchange of the members with those `distance` further on.
    [[nodiscard]] Step exchange(int distance, double pieces, int cut = 1) const {
        return {.messages =
                    [folded = *this, distance, pieces](Visit const& visit) {
                        for (int m = 0; m < folded.core; ++m)
                            visit(folded.rank_of(m), folded.rank_of(m ^ distance), pieces);
                    },
                .cut = cut,
                .size = core};
    }
};

Steps alltoall_ring(int ranks) {
    Steps steps;
    for (int k = 1; k < ranks; ++k) steps.push_back(shift(ranks, k, 1));
    return steps;
}

Steps alltoall_pairwise(int ranks) {
    if (!std::has_single_bit(static_cast<unsigned>(ranks))) {
        throw std::invalid_argument("cannot run alltoall by pairwise on " + std::to_string(ranks) +
                                    " ranks (not a power of two); try ring");
    }
    Steps steps;
    for (int k = 1; k < ranks; ++k) steps.push_back(every_rank(ranks, 1, [=](int r) { return r ^ k; }));
    return steps;
}

// Everything at once.
Steps alltoall_linear(int ranks) {
    if (ranks == 1) return {};
    return {{.messages =
                 [=](Visit const& visit) {
                     for (int r = 0; r < ranks; ++r) {
                         for (int t = 0; t < ranks; ++t) {
                             if (t != r) visit(r, t, 1);
                         }
                     }
                 },
             .size = std::int64_t{ranks} * (ranks - 1)}};
}

Steps alltoall_bruck(int ranks) {
    Steps steps;
    for (std::int64_t k = 1; k < ranks; k *= 2) {
        int blocks = 0;  // those whose distance has this bit set travel now
        for (int distance = 1; distance < ranks; ++distance) blocks += distance & k ? 1 : 0;
        steps.push_back(shift(ranks, static_cast<int>(k), blocks));
    }
    return steps;
}

// Rank r's i-th partner is (stride_r × i) mod ranks, each rank with a stride of its own that is prime to their number.
Steps alltoall_prime_stride(int ranks) {
    auto const strides = std::make_shared<std::vector<int>>();
    for (int candidate = 2; static_cast<int>(strides->size()) < ranks; ++candidate) {
        bool prime = true;
        for (int d = 2; d * d <= candidate && prime; ++d) prime = candidate % d != 0;
        if (prime && std::gcd(candidate, ranks) == 1) strides->push_back(candidate);
    }
    Steps steps;
    for (int i = 0; i < ranks; ++i) {
        steps.push_back(every_rank(ranks, 1, [=](int r) {
            return static_cast<int>(static_cast<std::int64_t>((*strides)[at(r)]) * i % ranks);
        }));
    }
    return steps;
}

// The same neighbour in every round; one piece each.
Steps ring(int ranks, int rounds, int cut) {
    if (ranks == 1) return {};
    Step step = shift(ranks, 1, 1, cut);
    step.times = rounds;
    return {step};
}

// Each block goes once round the ring.
Steps allgather_ring(int ranks) { return ring(ranks, ranks - 1, 1); }

Steps allgather_recursive_doubling(int ranks) {
    Folded const folded(ranks);
    Steps steps = folded.hand_over(1);
    for (int k = 1; k < folded.core; k *= 2) {
        steps.push_back({.messages =
                             [=](Visit const& visit) {
                                 for (int m = 0; m < folded.core; ++m) {
                                     double held = 0;  // blocks of the k members around this one
                                     int const first = m & ~(k - 1);
                                     if (first < folded.rest) held = std::min(k, folded.rest - first);
                                     visit(folded.rank_of(m), folded.rank_of(m ^ k), held + k);
                                 }
                             },
                         .size = folded.core});
    }
    return joined(steps, folded.hand_back(ranks - 1));
}

Steps allgather_bruck(int ranks) {
    Steps steps;
    for (std::int64_t k = 1; k < ranks; k *= 2) {
        auto const distance = static_cast<int>(k);
        steps.push_back(shift(ranks, ranks - distance, std::min(distance, ranks - distance)));
    }
    return steps;
}

Steps allreduce_recursive_doubling(int ranks) {
    Folded const folded(ranks);
    Steps steps = folded.hand_over(1);
    for (int k = 1; k < folded.core; k *= 2) steps.push_back(folded.exchange(k, 1));
    return joined(steps, folded.hand_back(1));
}

// Reduce-scatter by recursive halving among the members: half of what is left in every step.
Steps halving(Folded const& folded, int cut) {
    Steps steps;
    for (int k = folded.core / 2; k >= 1; k /= 2) steps.push_back(folded.exchange(k, k, cut));
    return steps;
}

// Reduce-scatter by recursive halving, then allgather by recursive doubling.
Steps rabenseifner(int ranks) {
    Folded const folded(ranks);
    Steps const halves = halving(folded, folded.core);
    return joined(joined(joined(folded.hand_over(1), halves), reversed(halves)), folded.hand_back(1));
}

Steps binomial(int ranks) {
    Steps steps;
    for (std::int64_t k = 1; k < ranks; k *= 2) {
        steps.push_back(
            every_rank(ranks, 1, [=](int r) { return r < k && r + k < ranks ? r + static_cast<int>(k) : -1; }));
    }
    return steps;
}

// Binomial tree: a rank that holds the pieces of several ranks passes on those of the upper half. The pieces are parts
// of a buffer that is cut into `cut`, or separate blocks.
Steps scatter(int ranks, int cut = 1) {
    Steps steps;
    for (std::int64_t k = std::bit_ceil(static_cast<unsigned>(ranks)) / 2; k >= 1; k /= 2) {
        steps.push_back({.messages =
                             [=](Visit const& visit) {
                                 for (std::int64_t r = 0; r + k < ranks; r += 2 * k)
                                     visit(static_cast<int>(r), static_cast<int>(r + k),
                                           static_cast<double>(std::min(k, ranks - r - k)));
                             },
                         .cut = cut,
                         .size = ranks});
    }
    return steps;
}

// Every block straight from its owner to the root, all at once.
Steps gather_linear(int ranks) {
    if (ranks == 1) return {};
    return {every_rank(ranks, 1, [](int) { return 0; })};
}

// Every rank with the one whose number differs in one bit, where there is such a rank: it adds what comes from below.
Steps scan_recursive_doubling(int ranks) {
    Steps steps;
    for (std::int64_t k = 1; k < ranks; k *= 2) {
        steps.push_back(every_rank(ranks, 1, [=](int r) {
            auto const partner = static_cast<int>(r ^ k);
            return partner < ranks ? partner : -1;
        }));
    }
    return steps;
}

// Van de Geijn: scatter, then allgather.
Steps bcast_scatter_allgather(int ranks) { return joined(scatter(ranks, ranks), ring(ranks, ranks - 1, ranks)); }

// Segments go from neighbour to neighbour. Every step is charged as one in which all links of the chain are busy.
Steps chain(int ranks) {
    if (ranks == 1) return {};
    Step step = every_rank(ranks, 1, [=](int r) { return r + 1 < ranks ? r + 1 : -1; });
    step.times = ranks - 2;
    step.segmented = true;
    return {step};
}

// Recursive halving, then the pieces up a binomial tree of the members.
Steps reduce_rabenseifner(int ranks) {
    Folded const folded(ranks);
    Steps steps = joined(folded.hand_over(1), halving(folded, folded.core));
    for (int k = 1; k < folded.core; k *= 2) {
        steps.push_back({.messages =
                             [=](Visit const& visit) {
                                 for (int m = k; m < folded.core; m += 2 * k)
                                     visit(folded.rank_of(m), folded.rank_of(m - k), k);
                             },
                         .cut = folded.core,
                         .size = folded.core});
    }
    if (folded.rest) {  // member 0 is rank 1, the root is rank 0
        steps.push_back({.messages = [](Visit const& visit) { visit(1, 0, 1); }, .size = 1});
    }
    return steps;
}

Steps reduce_scatter_halving(int ranks) {
    Folded const folded(ranks);
    Steps steps = folded.hand_over(ranks);
    for (int k = folded.core / 2; k >= 1; k /= 2) {
        steps.push_back({.messages =
                             [=](Visit const& visit) {
                                 for (int m = 0; m < folded.core; ++m) {
                                     int const first = (m ^ k) & ~(k - 1);  // the half that the partner keeps
                                     int const twice = std::max(0, std::min(k, folded.rest - first));
                                     visit(folded.rank_of(m), folded.rank_of(m ^ k), k + twice);
                                 }
                             },
                         .size = folded.core});
    }
    return joined(steps, folded.hand_back(1));
}

// In step k, every rank notifies the rank 2^k above it.
Steps dissemination(int ranks) {
    Steps steps;
    for (std::int64_t k = 1; k < ranks; k *= 2) steps.push_back(shift(ranks, static_cast<int>(k), 0));
    return steps;
}

struct Program {
    std::string_view operation, algorithm;
    Steps (*steps)(int ranks);
    bool every_pair = false;  // a message from each rank to each
};

constexpr Program programs[] = {
    {"allreduce", "recursive-doubling", allreduce_recursive_doubling},
    {"allreduce", "ring", [](int p) { return ring(p, 2 * (p - 1), p); }},
    {"allreduce", "rabenseifner", rabenseifner},
    {"allreduce", "binomial", [](int p) { return joined(reversed(binomial(p)), binomial(p)); }},
    {"bcast", "binomial", binomial},
    {"bcast", "scatter-allgather", bcast_scatter_allgather},
    {"bcast", "chain", chain},
    {"reduce", "binomial", [](int p) { return reversed(binomial(p)); }},
    {"reduce", "rabenseifner", reduce_rabenseifner},
    {"reduce", "chain", [](int p) { return reversed(chain(p)); }},
    {"allgather", "ring", allgather_ring},
    {"allgather", "recursive-doubling", allgather_recursive_doubling},
    {"allgather", "bruck", allgather_bruck},
    {"alltoall", "linear", alltoall_linear, true},
    {"alltoall", "ring", alltoall_ring, true},
    {"alltoall", "pairwise", alltoall_pairwise, true},
    {"alltoall", "bruck", alltoall_bruck},
    {"alltoall", "prime-stride", alltoall_prime_stride, true},
    {"reduce-scatter", "ring", allgather_ring},
    {"reduce-scatter", "recursive-halving", reduce_scatter_halving},
    {"reduce-scatter", "pairwise", alltoall_ring, true},
    {"gather", "binomial", [](int p) { return reversed(scatter(p)); }},
    {"gather", "linear", gather_linear},
    {"scatter", "binomial", [](int p) { return scatter(p); }},
    {"scatter", "linear", [](int p) { return reversed(gather_linear(p)); }},
    {"scan", "recursive-doubling", scan_recursive_doubling},
    {"scan", "chain", chain},
    {"barrier", "dissemination", dissemination},
};

}  // namespace

std::vector<std::pair<std::string, std::string>> collectives() {
    std::vector<std::pair<std::string, std::string>> known;
    for (auto const& program : programs) known.emplace_back(program.operation, program.algorithm);
    return known;
}

std::vector<CollectiveStep> collective(std::string const& operation, std::string const& algorithm, int ranks) {
    if (ranks < 1) throw std::invalid_argument("cannot run a collective on 0 ranks; try 2 or more");
    for (auto const& program : programs) {
        if (program.operation != operation || program.algorithm != algorithm) continue;
        if (program.every_pair && std::int64_t{ranks} * (ranks - 1) > max_messages) {
            throw std::invalid_argument("cannot run " + operation + " by " + algorithm + " on " +
                                        std::to_string(ranks) + " ranks (more than " + std::to_string(max_messages) +
                                        " messages); try fewer ranks");
        }
        return program.steps(ranks);
    }
    throw std::invalid_argument("cannot run " + operation + " by " + algorithm + " (no such algorithm)");
}

}  // namespace octant::network
