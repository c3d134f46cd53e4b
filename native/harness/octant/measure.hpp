// Drives a kernel: batches, synchronises, times, keeps every sample, knows when to stop.
#pragma once

#include "octant/clock.hpp"
#include "octant/kernel.hpp"
#include "octant/noise.hpp"

#include <string>
#include <vector>

namespace octant {

struct Lane {  // one thread of one rank
    int rank = 0, thread = 0, cpu = -1;
    std::vector<std::int64_t> begin_ns, duration_ns;
    std::vector<std::int64_t> preempted;  // sample numbers during which the kernel switched us out
    std::vector<std::int64_t> clock_hz;   // of this core at the end of each burst, at work where the kernel can tell
};

struct Settings {
    double seconds;        // budget of one point
    std::int64_t samples;  // most samples of one lane or rank
    std::int64_t least;    // fewest samples
    double precision;      // stop when the interval's relative half-width is below this
    Sync sync;
    bool shared_clock;  // all ranks on one node
    bool share_cores;   // more threads than hardware threads: never spin for long
};

struct Measurement {
    std::vector<Lane> lanes;                 // this rank's; for step kernels one lane with this rank's times
    std::int64_t origin_ns = 0;              // when this rank's lanes were first let go: all ranks' at the same moment
    std::int64_t batch = 1;                  // chunks or steps in one sample
    std::int64_t warmup = 0;                 // samples before the steady state, for the slowest lane to settle
    std::string stopped_by;                  // "interval", "samples" or "time"
    std::vector<std::int64_t> exit_skew_ns;  // of the synchronisation, one a trial; empty where clocks are not shared
    NoiseReport noise;
};

[[nodiscard]] Measurement measure(Runnable& kernel, KernelInfo const& info, Context const& context,
                                  Settings const& settings);

// Starts all ranks together, as the method says, and returns when this rank may go.
void synchronise(Comm const& world, Sync method, std::int64_t slack_ns);

}  // namespace octant
