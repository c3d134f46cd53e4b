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
            {{"bytes", KnobKind::bytes, "8", "size of one operation, or of the window (pattern=window)", {}, 0, most},
             {"win", KnobKind::word, "allocate", "kind of window (MPI_Win_create, MPI_Win_allocate, …)", window_words},
             {"completion",
              KnobKind::word,
              "flush",
              "flush: one passive epoch that stays open; lock, lock-exclusive: an epoch per target; lock-all: an epoch "
              "per step; fence, pscw: active synchronisation",
              {"flush", "fence", "pscw", "lock", "lock-exclusive", "lock-all"}},
             {"window", KnobKind::integer, "1", "operations per completion, at different offsets", {}, 1, 65536},
             {"barrier",
              KnobKind::word,
              "outside",
              "inside: steps of several origins include a barrier",
              {"outside", "inside"}},
             {"target",
              KnobKind::word,
              "computes",
              "behaviour of the target of passive patterns",
              {"computes", "polls"}},
             {"compute", KnobKind::integer, "200", "computation time of the target, µs", {}, 1, 10'000'000},
             {"type", KnobKind::word, "int64", "element type of accumulate and compare operations", type_words},
             {"op", KnobKind::word, "sum", "operation of accumulate, get-accumulate and fetch-and-op", operation_words},
             {"buffers",
              KnobKind::word,
              "hot",
              "hot: the same buffers in each step; rotating: buffers that are not in the caches",
              {"hot", "rotating"}},
             {"rotation", KnobKind::bytes, "64MiB", "memory size of rotating buffers", {}, 4096}},
        .pace = octant::Pace::steps,
        .sync = octant::Sync::none,
        .roles = {{.name = "origin"},
                  {.name = "target", .timed = false, .waits = octant::Waits::polls},
                  {.name = "idle", .timed = false}},
        .min_ranks = 2};
}

}  // namespace onesided

int main(int argc, char** argv) {
    auto rows = onesided::transfer_rows();
    for (auto& row : onesided::passive_rows()) rows.push_back(std::move(row));
    rows.push_back(onesided::window_row());
    return octant::run_rows(argc, argv, "pattern", std::move(rows));
}
