// Collectives as programs of synchronised steps among ranks.
#pragma once

#include <functional>
#include <utility>

#include "engine/traffic.hpp"

namespace octant::network {

using Visit = std::function<void(int from, int to, double pieces)>;

// Messages that travel at once, in pieces of a buffer: what every operation's `bytes` measures.
struct CollectiveStep {
    std::function<void(Visit const&)> messages;
    int cut = 1;             // the buffer is cut into so many pieces, each rounded up to whole bytes
    double times = 1;        // how often it is done in a row
    bool segmented = false;  // one such step per segment more: the piece is a segment, and their number is free
    std::int64_t size = 0;   // about how many messages
};

inline constexpr std::int64_t max_messages = 500'000'000;

// Every operation with its algorithms, in the order in which they are shown.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> collectives();

// The distinct steps of an algorithm. `bytes` measures, for allreduce, reduce, scan and bcast, the whole buffer;
// for allgather, gather, scatter and reduce-scatter, what each rank gives or gets; for alltoall, what each rank sends
// to each. Throws where the algorithm is unknown, cannot have that number of ranks, or has more than `max_messages`.
[[nodiscard]] std::vector<CollectiveStep> collective(std::string const& operation, std::string const& algorithm,
                                                     int ranks);

}  // namespace octant::network
