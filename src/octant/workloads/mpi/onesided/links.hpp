// Origins and targets: the operations of a rank in one round of a pattern, and the operations on its window.
#pragma once

#include "rows.hpp"

#include <cstddef>
#include <vector>

namespace onesided {

struct Link {            // an operation of this rank, once in each round
    int target;          // rank among those that take part
    std::size_t region;  // of the target's window, which the operation reaches
};

struct Links {
    std::vector<Link> out;     // sorted by target
    std::vector<int> sources;  // by region of this rank's window: the rank that alone reaches it; none: all reach it
    std::size_t regions = 1;   // of every rank's window
    [[nodiscard]] std::vector<int> targets() const;  // each once
};
// The ranks whose operations reach `rank`, each once.
[[nodiscard]] std::vector<int> origins_of(Shape shape, int rank, int ranks);

// Links of `rank` among the participating `ranks`. Targets begin after the own rank, to avoid contention for one
// target.
[[nodiscard]] Links links_of(Shape shape, int rank, int ranks);

// Whether only the first and the last rank of a group take part.
[[nodiscard]] inline bool of_two(Shape shape) { return shape == Shape::pair || shape == Shape::both; }

}  // namespace onesided
