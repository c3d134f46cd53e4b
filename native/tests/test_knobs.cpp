// Words on the command line become points, or are refused by name.
#include "octant/knobs.hpp"

#include "check.hpp"

#include <algorithm>
#include <vector>

namespace {

using octant::Knob;
using octant::KnobKind;

std::vector<Knob> declared() {
    return {{"bytes", KnobKind::bytes, "1KiB", "size", {}, 64},
            {"kernel", KnobKind::word, "triad", "loop", {"copy", "triad"}},
            {"memory", KnobKind::word, "default", "policy"},
            {"threads", KnobKind::integer, "1", "threads", {}, 1, 8},
            {"seconds", KnobKind::seconds, "0.5", "budget"}};
}

auto points(std::vector<std::string> const& words) { return octant::points(declared(), words); }

void sweeps(octant::Checks& checks) {
    auto const defaults = points({});
    checks.that(defaults.size() == 1 && defaults[0].integer("bytes") == 1024, "defaults");
    auto const swept = points({"bytes=1KiB,2KiB", "threads=1,2,3"});
    checks.that(swept.size() == 6, "the product");
    checks.that(swept[1].integer("threads") == 2 && swept[1].integer("bytes") == 1024, "the last name is fastest");
    auto const bound = points({"memory=local,bind:0,2-3,interleave:0,1,bind:1"});
    checks.that(bound.size() == 4 && bound[1].word("memory") == "bind:0+2-3", "nodes joined by commas are one value");
    checks.that(bound[2].word("memory") == "interleave:0+1" && bound[3].word("memory") == "bind:1", "up to a word");
    checks.that(swept[5].word("kernel") == "triad", "what is not named keeps its default");
}

void orders(octant::Checks& checks) {
    auto const sizes = [](std::uint64_t seed) {
        auto all = points({"bytes=64,65,66,67,68,69,70,71"});
        octant::shuffle(all, seed);
        std::vector<std::int64_t> order;
        for (auto const& point : all) order.push_back(point.integer("bytes") - 64);
        return order;
    };
    checks.that(sizes(7) == std::vector<std::int64_t>{2, 3, 5, 6, 1, 0, 4, 7}, "the same order on every machine");
    checks.that(sizes(8) != sizes(7) && sizes(0) != sizes(1), "another seed, another order");
    auto sorted = sizes(8);
    std::ranges::sort(sorted);
    checks.that(sorted == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}, "each point once");
}

void refusals(octant::Checks& checks) {
    checks.refused([] { points({"kernle=copy"}); }, "bytes, kernel, memory, threads, seconds");
    checks.refused([] { points({"kernel=sort"}); }, "one of copy, triad");
    checks.refused([] { points({"threads=9"}); }, "outside 1");
    checks.refused([] { points({"bytes=1"}); }, "outside 64");
    checks.refused([] { points({"bytes"}); }, "knob=value");
    checks.refused([] { points({"threads=1", "threads=2"}); }, "twice");
    checks.refused([] { points({"threads="}); }, "non-negative integer");
}

}  // namespace

int main() {
    octant::Checks checks;
    sweeps(checks);
    orders(checks);
    refusals(checks);
    return checks.result();
}
