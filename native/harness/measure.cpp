#include "octant/measure.hpp"

#include "octant/sampling.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace octant {
namespace {

constexpr std::int64_t least_clock_costs = 20;  // a sample lasts at least this many readings of the clock
constexpr std::int64_t free_clock_costs = 100;  // … and this many where no synchronisation lies between two steps
constexpr double burst_s = 0.05;                // between two bursts the harness decides whether it has enough
constexpr double burst_samples = 8;             // longer samples make longer bursts: lanes end theirs one by one
constexpr int least_bursts = 4;                 // samples of one burst resemble each other: no interval from fewer

std::vector<double> as_doubles(std::vector<std::int64_t> const& values) { return {values.begin(), values.end()}; }

bool precise(std::vector<std::int64_t> const& durations_ns, Settings const& settings) {
    auto const samples = as_doubles(durations_ns);
    auto const warm = std::span(samples).subspan(warmup_length(samples));
    return static_cast<std::int64_t>(warm.size()) >= settings.least &&
           median_interval(warm, correlation_time(warm)).relative_half_width() <= settings.precision;
}

std::int64_t start_target(Comm const& world, std::int64_t slack_ns) { return world.broadcast(now_ns() + slack_ns); }

void pause_until(std::int64_t target_ns, bool share_cores) {
    if (share_cores)
        while (now_ns() < target_ns) usleep(50);
    else
        spin_until(target_ns);
}

class Measurer {
  public:
    Measurer(Runnable& kernel, KernelInfo const& info, Context const& context, Settings const& settings)
        : kernel_(kernel),
          info_(info),
          context_(context),
          settings_(settings),
          world_(context.world),
          slack_ns_(20'000 + 2'000LL * context.world.size()) {
        int const lanes = kernel.has_lanes() && !info.library_threads ? context.threads : 1;
        found_.lanes.resize(static_cast<std::size_t>(lanes));
        for (int t = 0; t < lanes; ++t) {
            Lane& lane = found_.lanes[static_cast<std::size_t>(t)];
            lane.rank = world_.rank();
            lane.thread = t;
            lane.begin_ns.reserve(static_cast<std::size_t>(settings.samples));
            lane.duration_ns.reserve(static_cast<std::size_t>(settings.samples));
        }
        next_.assign(found_.lanes.size(), 0);
    }

    Measurement run() {
        found_.noise.before = idle_look(look_s);
        calibrate();
        if (settings_.shared_clock && settings_.sync != Sync::none && world_.size() > 1) measure_exit_skew();
        auto const from = NoiseTotals::read();
        std::int64_t const begin = now_ns();
        budget_end_ns_ = begin + static_cast<std::int64_t>(std::min(settings_.seconds, 1e9) * 1e9);
        for (int bursts = 1; found_.stopped_by.empty(); ++bursts) {
            burst();
            std::int64_t const most = world_.max(static_cast<std::int64_t>(found_.lanes[0].begin_ns.size()));
            double const elapsed_s = world_.max(static_cast<double>(now_ns() - begin) * 1e-9);
            if (bursts >= least_bursts && all_precise())
                found_.stopped_by = "interval";
            else if (most >= settings_.samples)
                found_.stopped_by = "samples";
            else if (elapsed_s >= settings_.seconds)
                found_.stopped_by = "time";
        }
        found_.noise.during = difference(from, NoiseTotals::read());
        Comm const node = world_.node();
        found_.noise.during["node_own_cpu_s"] =
            static_cast<double>(node.sum(static_cast<std::int64_t>(found_.noise.during["own_cpu_s"] * 1e6))) * 1e-6;
        found_.noise.after = idle_look(look_s);
        std::size_t warmup = 0;
        for (auto const* series : figured()) warmup = std::max(warmup, warmup_length(as_doubles(*series)));
        found_.warmup = world_.max(static_cast<std::int64_t>(warmup));
        return std::move(found_);
    }

  private:
    static constexpr double look_s = 0.003;
    static constexpr int clock_blocks = 3;  // about 20 us
    static constexpr int short_steps = 20;
    static constexpr std::int64_t no_doubt_ns = 20'000'000;  // longer than a time slice that is lost

    // The series that figures are made of, as far as this rank has them: of steps those that are recorded.
    [[nodiscard]] std::vector<std::vector<std::int64_t> const*> figured() const {
        std::vector<std::vector<std::int64_t> const*> found;
        if (kernel_.has_lanes())
            for (auto const& lane : found_.lanes) found.push_back(&lane.duration_ns);
        else if (world_.rank() == 0)
            found.push_back(&steps_ns_);
        return found;
    }

    // Collective: is everything measured well enough?
    [[nodiscard]] bool all_precise() const {
        if (settings_.precision <= 0) return false;
        bool const mine =
            std::ranges::all_of(figured(), [&](auto const* series) { return precise(*series, settings_); });
        return world_.max(std::int64_t{mine ? 0 : 1}) == 0;
    }

    void calibrate() {
        std::int64_t const costs = settings_.sync == Sync::none ? free_clock_costs : least_clock_costs;
        std::int64_t const enough_ns = world_.max(
            kernel_.has_lanes() ? info_.sample_ns : costs * static_cast<std::int64_t>(measure_clock().cost_ns + 1));
        for (found_.batch = 1;; found_.batch *= 2) {
            std::int64_t quickest = INT64_MAX;
            for (int i = 0; i < 3; ++i) {
                auto const times =
                    kernel_.has_lanes()
                        ? 1
                        : std::clamp<std::int64_t>(1'000'000 / std::max<std::int64_t>(quickest, 1), 1, short_steps);
                quickest = std::min(quickest, world_.max(all_lanes(found_.batch, times)));
                burst_s_ = std::max(
                    burst_s, std::min(burst_samples * static_cast<double>(quickest) * 1e-9, settings_.seconds / 4));
                if (quickest > std::max(20 * enough_ns, no_doubt_ns)) return;  // and a library call may take seconds
            }
            if (quickest >= enough_ns || found_.batch >= (std::int64_t{1} << 40)) return;
        }
    }

    // One batch in every lane at once; the longest time, ns. Of several the quickest counts in each lane: the first
    // step after a barrier also tells how far apart the ranks left it.
    std::int64_t all_lanes(std::int64_t batch, std::int64_t times) {
        std::int64_t longest = 0;
        if (!kernel_.has_lanes()) world_.barrier();
#pragma omp parallel num_threads(static_cast<int>(found_.lanes.size())) reduction(max : longest)
        {
            auto const t = static_cast<std::size_t>(omp_get_thread_num());
            longest = INT64_MAX;
            for (std::int64_t i = 0; i < times; ++i) {
                std::int64_t const begin = now_ns();
                kernel_.run(static_cast<int>(t), next_[t], batch);
                longest = std::min(longest, now_ns() - begin);
                next_[t] += batch;
            }
        }
        if (!kernel_.has_lanes()) world_.wait_for_first();
        return longest;
    }

    void measure_exit_skew() {
        constexpr int trials = 100;
        std::vector<std::int64_t> exits;
        for (int i = 0; i < trials; ++i) {
            synchronise(world_, settings_.sync, slack_ns_);
            exits.push_back(now_ns());
        }
        auto const all = world_.gather(exits);
        for (std::size_t i = 0; i < exits.size() && !all.empty(); ++i) {
            std::int64_t low = INT64_MAX, high = INT64_MIN;
            for (auto const& rank : all) {
                low = std::min(low, rank[i]);
                high = std::max(high, rank[i]);
            }
            found_.exit_skew_ns.push_back(high - low);
        }
    }

    void burst() {
        if (kernel_.has_lanes())
            lanes_burst();
        else
            steps_burst();
    }

    void lanes_burst() {
        if (!settings_.shared_clock) world_.dissemination_barrier();
        std::int64_t const shared = start_target(world_, slack_ns_);
        std::int64_t const target = settings_.shared_clock ? shared : now_ns() + slack_ns_;
        std::int64_t const end = std::min(target + static_cast<std::int64_t>(burst_s_ * 1e9), budget_end_ns_);
        if (found_.lanes[0].begin_ns.empty()) found_.origin_ns = target;
#pragma omp parallel num_threads(static_cast<int>(found_.lanes.size()))
        {
            auto const t = static_cast<std::size_t>(omp_get_thread_num());
            Lane& lane = found_.lanes[t];
            lane.cpu = current_cpu();
            std::int64_t switches = involuntary_switches();
            pause_until(target, settings_.share_cores);
            // At least one sample a burst, however long it takes: the budget bounds bursts, not truth.
            do {
                if (static_cast<std::int64_t>(lane.begin_ns.size()) >= settings_.samples) break;
                std::int64_t const begin = now_ns();
                kernel_.run(static_cast<int>(t), next_[t], found_.batch);
                add(lane, begin, now_ns(), switches);
                next_[t] += found_.batch;
            } while (now_ns() < end);
            lane.clock_hz.push_back(static_cast<std::int64_t>(clock_at_work(static_cast<int>(t))));
        }
    }

    // Of the core that this lane runs on, in the middle of the kernel's work where the kernel can tell, else right
    // after.
    double clock_at_work(int lane) {
        double best = 0;
        for (int i = 0; i < 2 * clock_blocks; ++i) {  // an interruption can only slow a piece down: the fastest counts
            std::int64_t const begin = now_ns();
            auto const cycles = static_cast<double>(kernel_.cycles(lane, i % 2));
            if (cycles == 0) return core_frequency_hz(clock_blocks);
            best = std::max(best, cycles / (static_cast<double>(now_ns() - begin) * 1e-9));
        }
        return best;
    }

    void steps_burst() {
        Lane& lane = found_.lanes[0];
        lane.cpu = current_cpu();
        std::int64_t switches = involuntary_switches();
        // All ranks take the same number of steps: rank 0 sizes the burst from what the last ones took.
        std::int64_t const last_ns =
            lane.duration_ns.empty() ? 1'000'000 : std::max<std::int64_t>(lane.duration_ns.back(), 1000);
        auto const fitting = static_cast<std::int64_t>(burst_s * 1e9) / last_ns;
        world_.wait_for_first();  // the others have had their last collective; rank 0 may have lost its core since
        std::int64_t const left = settings_.samples - static_cast<std::int64_t>(lane.begin_ns.size());
        std::int64_t const count =
            std::max<std::int64_t>(1, world_.broadcast(std::min(std::clamp<std::int64_t>(fitting, 5, 2000), left)));
        if (settings_.sync == Sync::none)
            kernel_.run(0, next_[0]++, 1);  // brings the ranks together after the broadcast
        std::int64_t last_end = now_ns();
        for (std::int64_t i = 0; i < count; ++i) {
            synchronise(world_, settings_.sync, slack_ns_);
            std::int64_t const begin = now_ns();
            kernel_.run(0, next_[0], found_.batch);
            std::int64_t const end = now_ns();
            // Asking for the switches is a system call, longer than a short step: only a suspicious time is looked
            // into.
            quickest_ns_ = std::min(quickest_ns_, end - begin);
            if (end - begin > quickest_ns_ * 3 / 2 || begin - last_end > quickest_ns_ + slack_ns_)
                add(lane, begin, end, switches);
            else
                keep(lane, begin, end);
            last_end = end;
            next_[0] += found_.batch;
        }
        world_.wait_for_first();
        auto const last = as_doubles({lane.duration_ns.end() - count, lane.duration_ns.end()});
        if (info_.timing == Timing::root)
            steps_ns_.assign(lane.duration_ns.begin(), lane.duration_ns.end());
        else
            for (auto const& [duration_ns, rank] : world_.slowest(last))
                steps_ns_.push_back(static_cast<std::int64_t>(duration_ns));
    }

    static void add(Lane& lane, std::int64_t begin, std::int64_t end, std::int64_t& switches) {
        if (std::int64_t const now = involuntary_switches(); now != switches) {
            switches = now;
            lane.preempted.push_back(static_cast<std::int64_t>(lane.begin_ns.size()));
        }
        keep(lane, begin, end);
    }

    static void keep(Lane& lane, std::int64_t begin, std::int64_t end) {
        lane.begin_ns.push_back(begin);
        lane.duration_ns.push_back(end - begin);
    }

    Runnable& kernel_;
    KernelInfo const& info_;
    Context const& context_;
    Settings const& settings_;
    Comm const& world_;
    std::int64_t slack_ns_;
    std::vector<std::int64_t> next_;  // the next chunk's index, a lane
    std::int64_t quickest_ns_ = INT64_MAX;
    double burst_s_ = burst_s;
    std::int64_t budget_end_ns_ = INT64_MAX;
    std::vector<std::int64_t> steps_ns_;  // on rank 0: the times that are recorded
    Measurement found_;
};

}  // namespace

void synchronise(Comm const& world, Sync method, std::int64_t slack_ns) {
    switch (method) {
        case Sync::none:
            return;
        case Sync::barrier:
            world.barrier();
            return;
        case Sync::dissemination:
            world.dissemination_barrier();
            return;
        case Sync::clock:
            spin_until(start_target(world, slack_ns));
            return;
    }
}

Measurement measure(Runnable& kernel, KernelInfo const& info, Context const& context, Settings const& settings) {
    return Measurer(kernel, info, context, settings).run();
}

}  // namespace octant
