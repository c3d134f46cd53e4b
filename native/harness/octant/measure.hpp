// Measurement loop: batching, synchronisation, timing, samples and stopping rule.
#pragma once

#include "octant/clock.hpp"
#include "octant/groups.hpp"
#include "octant/kernel.hpp"
#include "octant/lost.hpp"
#include "octant/noise.hpp"

#include <string>
#include <utility>
#include <vector>

namespace octant {

struct Burst {
    std::int64_t first = 0;    // number of its first sample
    std::int64_t wall_ns = 0;  // its length, which contains its samples
};

struct Lane {  // one thread of one rank; for steps and whole repetitions one lane holds this rank's times
    int thread = 0, cpu = -1;
    std::size_t role = 0;
    std::vector<std::int64_t> begin_ns, duration_ns;
    std::vector<std::int64_t> preempted;  // numbers of samples with an involuntary context switch
    std::vector<Burst> bursts;            // of chunks
    std::vector<std::int64_t> clock_hz;   // of this core at the end of each burst, under load if the kernel measures it
    RankTimes taken = {};                 // by the system, of the bursts
};

struct Settings {
    double seconds;        // budget of one point
    std::int64_t samples;  // most samples of one lane or rank
    std::int64_t least;    // fewest samples
    double precision;      // stop when the interval's relative half-width is below this
    Sync sync;
    bool shared_clock;        // all ranks on one node
    bool share_cores;         // more threads than hardware threads: never spin for long
    std::int64_t warmup = 0;  // of pace whole: repetitions that are not counted
    double mark_ns = 0;       // cost of one phase mark
    bool settles = true;      // the end of the warm-up is detected; else `warmup` is used
};

// From, to (not included): sample numbers.
using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

struct Measurement {
    std::vector<Lane> lanes;                 // of this rank; none if it is idle
    std::int64_t origin_ns = 0;              // common start of all ranks
    std::vector<std::int64_t> batch;         // chunks or steps in one sample, by role
    std::int64_t warmup = 0;                 // samples before the steady state, for the slowest lane to settle
    std::string stopped_by;                  // "interval", "samples" or "time"
    std::vector<std::int64_t> exit_skew_ns;  // on rank 0: of the synchronisation, one a trial; of shared clocks only
    double marks_share = 0;                  // part of the time that phase marks took, where they are on
    Ranges marks_off;                        // my group's samples with marks off; none where marks cost little
    Results checks;                          // of pace whole: the greatest value of each over the repetitions
    std::pair<std::string, std::int64_t> throttled;  // the quota's group that took most of the bursts, and ns over CPUs
    std::int64_t stolen_ns = -1, elapsed_ns = 0;     // of this rank's CPUs from the first burst to the last
    NoiseReport noise;
};

// Collective over the world. `kernel` is nullptr on ranks that are in no group.
[[nodiscard]] Measurement measure(Runnable* kernel, KernelInfo const& info, Context& context, Settings const& settings,
                                  Groups const& groups);

// Returns the checks of the kernel, after fault injection if requested; collective over the group.
[[nodiscard]] Results verified(Runnable& kernel, int rank);
// Keeps the larger value of each check; a value that is not finite is kept.
void keep_greatest(Results& checks, Results const& others);

}  // namespace octant
