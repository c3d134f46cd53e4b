// The time of a load that nothing can fetch ahead: over lines of a footprint, and over one line of each page.
#include "rows.hpp"

namespace latency {

std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
    return {{"bytes", KnobKind::bytes, "256MiB", "footprint of a thread", {}, 1024, std::int64_t{1} << 38},
            {"count", KnobKind::integer, "1024", "lines of pattern=pages", {}, 2, 1 << 26},
            {"stride",
             KnobKind::bytes,
             "4KiB",
             "from a line to the next one of pattern=pages, which lies at a varied place; 64: packed",
             {},
             64,
             std::int64_t{1} << 30},
            {"load", KnobKind::bytes, "64MiB", "footprint of each thread of pattern=loaded that draws", {}, 4096},
            {"pause", KnobKind::integer, "0", "cycles after each 4 KiB that it draws", {}, 0, 1'000'000},
            {"reads", KnobKind::word, "100", "percent of what it draws", {"100", "67", "50"}},
            {"seed", KnobKind::integer, "1", "of the random order"}};
}

}  // namespace latency

int main(int argc, char** argv) {
    return octant::run_rows(argc, argv, "pattern", {latency::lines_row(), latency::pages_row(), latency::loaded_row()});
}
