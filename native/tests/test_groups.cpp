// Every form of the knob `groups`, and its refusals.
#include "octant/groups.hpp"

#include "check.hpp"

#include <set>

namespace {

using octant::Groups;
using Members = std::vector<std::vector<int>>;

Members parsed(std::string const& text, int ranks, int least = 1) { return Groups::parse(text, ranks, least).members; }

void refused(octant::Checks& checks, std::string const& text, int ranks, int least, std::string const& part) {
    checks.refused([&] { parsed(text, ranks, least); }, part);
}

}  // namespace

int main() {
    octant::Checks checks;
    checks.that(parsed("all", 3) == Members{{0, 1, 2}}, "all");
    checks.that(parsed("1", 3) == Members{{0}, {1}, {2}}, "each alone");
    checks.that(parsed("2", 5) == Members{{0, 1}, {2, 3}}, "pairs, and one that does not fill a group");
    checks.that(parsed("first:2", 4) == Members{{0, 1}}, "the first two");
    checks.that(parsed("0+4/5+1", 6) == Members{{0, 4}, {5, 1}}, "lists, in their order");
    checks.that(parsed("shift:1", 4) == parsed("2", 4), "neighbours are consecutive");
    checks.that(parsed("shift:2", 8) == Members{{0, 2}, {1, 3}, {4, 6}, {5, 7}},
                "partners two apart, in blocks of four");
    checks.that(parsed("shift:P/2", 6) == Members{{0, 3}, {1, 4}, {2, 5}}, "half of all ranks apart");
    checks.that(parsed("shift:P/4", 8) == parsed("shift:2", 8), "a quarter of all ranks apart");
    checks.that(parsed("shift:P/2", 5) == Members{{0, 2}, {1, 3}}, "one of an odd number waits");
    checks.that(parsed("shift:3", 5) == Members{{0, 3}, {1, 4}}, "whose partner is not there waits");
    checks.that(parsed("shift:4:2", 8) == Members{{0, 4}, {1, 5}}, "the first two pairs");
    checks.that(parsed("mirror", 5) == Members{{0, 4}, {1, 3}}, "the first with the last");
    checks.that(parsed("mirror:2", 9) == Members{{0, 6}, {1, 7}, {2, 4}, {3, 5}},
                "nodes of two, the same place in both");
    checks.that(parsed("far:2x2", 4) == Members{{0, 3}, {1, 2}}, "opposite corners");
    checks.that(parsed("far:4x1", 8) == parsed("shift:P/2", 8), "half of a line apart, two ranks in each node");
    checks.that(parsed("far:4x4x4", 256).size() == 128 && parsed("far:4x4x4", 256)[0] == std::vector<int>{0, 168},
                "a cube of 64 nodes, and what lies farthest from its corner");
    auto const groups = Groups::parse("0+4/5+1", 6, 2);
    checks.that(groups.of(5) == 1 && groups.place_of(5) == 0 && groups.place_of(1) == 1, "places as written");
    checks.that(groups.of(2) == -1 && groups.idle(6) == std::vector<int>{2, 3}, "the others are idle");
    refused(checks, "all", 1, 2, "try --ranks 2");
    refused(checks, "1", 4, 2, "try groups=2");
    refused(checks, "0+1/2", 4, 2, "one has 1 rank");
    refused(checks, "8", 4, 1, "or --ranks 8");
    refused(checks, "first:5", 4, 1, "there are 4 ranks");
    refused(checks, "0", 4, 1, "a group has at least one rank");
    refused(checks, "2", 1, 1, "there is one rank); try groups=1, or --ranks 2");
    refused(checks, "0+0", 4, 1, "rank 0 appears twice); try each rank once");
    refused(checks, "0+1/1+2", 4, 1, "rank 1 appears twice); try each rank once, or groups=0+1,1+2, in separate runs");
    refused(checks, "0+4", 4, 1, "there is no rank 4); try ranks from 0 to 3");
    refused(checks, "pairs", 4, 1, "'pairs' is not an integer); try all");
    refused(checks, "0+/1", 4, 1, "'' is not an integer");
    for (int ranks : {2, 3, 4, 7, 8}) {  // every two ranks form a pair exactly once
        std::set<std::vector<int>> met;
        std::size_t pairs = 0;
        for (int round = 0; round < ranks - 1 + ranks % 2; ++round)
            for (auto const& pair : parsed("round:" + std::to_string(round), ranks)) {
                met.insert(pair);
                ++pairs;
            }
        auto const all = static_cast<std::size_t>(ranks * (ranks - 1) / 2);
        checks.that(met.size() == all && pairs == all, "all pairs of " + std::to_string(ranks) + " ranks");
    }
    refused(checks, "round:3", 4, 1, "there are rounds 0 to 2 of 4 ranks");
    refused(checks, "round:0", 1, 1, "no rank has a partner");
    refused(checks, "shift:0", 4, 1, "shift distance must be at least 1); try groups=shift:1, shift:P/2");
    refused(checks, "shift:1:1:1", 4, 1, "shift distance must be at least 1");
    refused(checks, "shift:half", 4, 1, "'half' is not an integer");
    refused(checks, "shift:4", 4, 1, "no rank has a partner among 4 ranks); try groups=shift:P/2, or --ranks 8");
    refused(checks, "shift:P/2", 1, 1, "no rank has a partner among 1 rank); try groups=shift:P/2, or --ranks 2");
    refused(checks, "shift:2:3", 4, 1, "there are 1 to 2 pairs); try groups=shift:2");
    refused(checks, "mirror:3", 5, 1, "no rank has a partner among 5 ranks); try --ranks 6");
    refused(checks, "mirror", 1, 1, "try --ranks 2");
    refused(checks, "far:3x2", 6, 1, "an odd edge has no opposite node");
    refused(checks, "far:4x4", 8, 1, "the grid has more nodes than there are ranks); try --ranks 16");
    refused(checks, "far:1", 8, 1, "the grid has one node); try far:2");
    refused(checks, "shift:1", 4, 3, "try groups=3");
    return checks.result();
}
