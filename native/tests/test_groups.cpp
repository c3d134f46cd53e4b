// Every form of the knob `groups`, and its refusals.
#include "octant/groups.hpp"

#include "check.hpp"

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
    refused(checks, "0+0", 4, 1, "rank 0 is in two places); try each rank once");
    refused(checks, "0+1/1+2", 4, 1, "rank 1 is in two places); try each rank once, or groups=0+1,1+2, one");
    refused(checks, "0+4", 4, 1, "there is no rank 4); try ranks from 0 to 3");
    refused(checks, "pairs", 4, 1, "'pairs' is no whole number); try all");
    refused(checks, "0+/1", 4, 1, "no whole number");
    return checks.result();
}
