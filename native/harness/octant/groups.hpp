// Groups of ranks that communicate: the value of the knob `groups`.
#pragma once

#include <string>
#include <vector>

namespace octant {

struct Groups {
    std::vector<std::vector<int>> members;  // ranks of the world, in the order of the group's own ranks

    // all; a size (consecutive ranks; those that do not fill a group are idle); first:N (one group); lists such as
    // 0+4/1+5; pairs: shift:K (rank i with i + K; P/2 is half of all ranks; shift:K:N the first N of them), mirror:C
    // (the first node of C ranks with the last, the same place in both), far:XxYxZ (nodes half of a grid apart),
    // round:K (all pairs, in rounds).
    // Throws Refusal: unreadable, a rank that there is not, a rank in two groups, fewer ranks in a group than `least`,
    // a pattern without pairs.
    [[nodiscard]] static Groups parse(std::string const& text, int ranks, int least);

    [[nodiscard]] int of(int rank) const;        // its group's number; -1: idle
    [[nodiscard]] int place_of(int rank) const;  // within its group; -1: idle
    [[nodiscard]] std::vector<int> idle(int ranks) const;
};

}  // namespace octant
