// Knobs of the three kernels of this program.
#pragma once

#include "octant/kernel.hpp"

namespace coherence {

[[nodiscard]] inline std::vector<octant::Knob> knobs() {
    using octant::KnobKind;
#ifdef __aarch64__
    char const* const flush = "civac";
#else
    char const* const flush = "clflush";
#endif
    return {{"protocol",
             KnobKind::word,
             "exchange",
             "pattern=pairs: exchange: compare-and-swap on one line; handover: store and load on two lines; read: load "
             "of a modified line",
             {"exchange", "handover", "read"}},
            {"trips", KnobKind::integer, "1000", "pattern=pairs: round trips per sample", {}, 10, 10'000'000},
            {"among",
             KnobKind::word,
             "all",
             "pattern=pairs, sharing: all hardware threads of the rank, or one per core",
             {"all", "core"}},
            {"distance", KnobKind::bytes, "8", "pattern=sharing: distance between the words of threads", {}, 8, 4096},
            {"sharers",
             KnobKind::integer,
             "2",
             "pattern=sharing: number of threads; 0: one per hardware thread",
             {},
             0,
             4096},
            {"bytes", KnobKind::bytes, "1MiB", "pattern=flush: footprint", {}, 4096, std::int64_t{1} << 34},
            {"instruction",
             KnobKind::word,
             flush,
             "pattern=flush: instruction (x86: clflush, clflushopt, clwb; Arm: civac, cvac)",
             {"clflush", "clflushopt", "clwb", "civac", "cvac"}},
            {"state",
             KnobKind::word,
             "dirty",
             "pattern=flush: state of the lines (dirty: written; clean: read only)",
             {"dirty", "clean"}}};
}

[[nodiscard]] inline octant::KernelInfo info_with(std::vector<std::string> phases,
                                                  std::vector<octant::Reading> readings = {}) {
    return {.knobs = knobs(),
            .pace = octant::Pace::steps,
            .sync = octant::Sync::none,
            .phases = std::move(phases),
            .readings = std::move(readings),
            .blocks = true,
            // The kernel places its threads itself; pairs differ, so that no interval says when there is enough.
            .defaults = {{"pin", "none"}, {"seconds", "1"}, {"samples", "60000"}, {"precision", "0"}}};
}

// Distinct hardware threads on which `sharers` threads work; throws Refusal where there are fewer than two.
void expect_two(std::vector<int> const& cpus);

octant::Row pairs_row();
octant::Row sharing_row();
octant::Row flush_row();

}  // namespace coherence
