// The time of a load that nothing can fetch ahead: over lines of a footprint, and over one line of each page.
#include "rows.hpp"

namespace latency {

std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
    return {{"bytes", KnobKind::bytes, "256MiB", "footprint per thread", {}, 1024, std::int64_t{1} << 38},
            {"count", KnobKind::integer, "1024", "pattern=pages: number of lines", {}, 2, 1 << 26},
            {"stride",
             KnobKind::bytes,
             "4KiB",
             "pattern=pages: distance between lines (offset within the stride varies); 64: packed",
             {},
             64,
             std::int64_t{1} << 30},
            {"load", KnobKind::bytes, "64MiB", "pattern=loaded: footprint per thread that generates traffic", {}, 4096},
            {"pause", KnobKind::integer, "0", "pattern=loaded: pause after each 4 KiB, cycles", {}, 0, 1'000'000},
            {"reads", KnobKind::word, "100", "pattern=loaded: share of reads, %", {"100", "67", "50"}},
            {"seed", KnobKind::integer, "1", "seed of the random order"}};
}

}  // namespace latency

int main(int argc, char** argv) {
    return octant::run_rows(argc, argv, "pattern", {latency::lines_row(), latency::pages_row(), latency::loaded_row()});
}
