// Named traffic patterns among `ranks` ranks; one unit per flow unless stated otherwise.
#pragma once

#include "engine/traffic.hpp"

namespace octant::network {

// Throws std::invalid_argument where a pattern of that many ranks would not fit into memory, or has none.
void require_ranks(std::int64_t ranks);

// shift (by `parameter`), transpose (of a square), reverse, tornado, bit-reverse, random (seed `parameter`).
[[nodiscard]] Flows permutation(std::string const& name, int ranks, std::int64_t parameter);

// Both neighbours in a ring of ranks in natural (seed 0) or random order: HPCC's ordered and random ring.
[[nodiscard]] Flows ring(int ranks, std::uint64_t seed);

// Both neighbours along every dimension of a grid of ranks, first dimension fastest; one unit per face.
[[nodiscard]] Flows halo(std::vector<int> const& sizes, bool periodic);

// Rank i of the first half with rank i of the second, both ways.
[[nodiscard]] Flows bisection(int ranks);

// All ranks to one.
[[nodiscard]] Flows incast(int ranks, int target);

// A random order of 0 … count - 1, the same everywhere for one seed.
[[nodiscard]] std::vector<Node> shuffled(int count, std::uint64_t seed);

}  // namespace octant::network
