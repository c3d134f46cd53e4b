// One-sided transfers of every pattern, by kind of window and way of completion.
#include "element.hpp"
#include "rows.hpp"
#include "window.hpp"

#include <limits>
#include <utility>

namespace onesided {

octant::KernelInfo common_info() {
    using octant::KnobKind;
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    return {
        .knobs =
            {{"bytes", KnobKind::bytes, "8", "length of what one operation moves; of a window", {}, 0, most},
             {"win", KnobKind::word, "allocate", "how the window is made", window_words},
             {"completion",
              KnobKind::word,
              "flush",
              "flush: in one epoch for all ranks that stays open; lock, lock-exclusive: an epoch for each target; "
              "lock-all: an epoch for all ranks in each step; fence and pscw: with the targets' calls",
              {"flush", "fence", "pscw", "lock", "lock-exclusive", "lock-all"}},
             {"window",
              KnobKind::integer,
              "1",
              "operations that one completion ends, each at a place of its own",
              {},
              1,
              65536},
             {"barrier",
              KnobKind::word,
              "outside",
              "inside: a step of several origins ends when the operations of all have ended",
              {"outside", "inside"}},
             {"target", KnobKind::word, "computes", "what the target of a passive pattern does", {"computes", "polls"}},
             {"compute", KnobKind::integer, "200", "how long it computes, us", {}, 1, 10'000'000},
             {"type", KnobKind::word, "int64", "of the values that a target changes or compares", type_words},
             {"op", KnobKind::word, "sum", "what accumulate, get-accumulate and fetch-and-op do", operation_words},
             {"buffers",
              KnobKind::word,
              "hot",
              "hot: the same places in each step; rotating: never one that a cache still holds",
              {"hot", "rotating"}},
             {"rotation", KnobKind::bytes, "64MiB", "how far rotating buffers walk before they return", {}, 4096}},
        .pace = octant::Pace::steps,
        .sync = octant::Sync::none,
        .roles = {{.name = "origin"},
                  {.name = "target", .timed = false, .waits = octant::Waits::polls},
                  {.name = "idle", .timed = false}},
        .least_ranks = 2};
}

}  // namespace onesided

int main(int argc, char** argv) {
    auto rows = onesided::transfer_rows();
    for (auto& row : onesided::passive_rows()) rows.push_back(std::move(row));
    rows.push_back(onesided::window_row());
    return octant::run_rows(argc, argv, "pattern", std::move(rows));
}
