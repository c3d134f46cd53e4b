// Steps: all ranks of a group together, in bursts between which the harness decides whether it has enough.
#include "octant/noise.hpp"
#include "pace.hpp"

#include <algorithm>

namespace octant {
namespace {

// Least lengths of a sample where nothing lies between two steps, in readings of the clock: of one step, and of a
// batch. Their ratio makes batches of 8 steps or more. Steps often have two modes, and the median of batches of 2 or 4
// steps jumps between them from one launch to the next.
constexpr std::int64_t single_clock_costs = 40, batch_clock_costs = 200;
constexpr std::int64_t switch_ns = 1000;           // a switch to another thread and back takes at least this long
constexpr std::int64_t cheap_reading_ns = 20'000;  // the switches are read after each sample of at least this length
constexpr std::int64_t max_short_steps = 20;
constexpr std::int64_t max_steps = 2000;   // of a round
constexpr std::int64_t min_bursts = 4;     // however short the steps are: drift and warm-up show between bursts
constexpr std::int64_t phased_bursts = 8;  // of a kernel with phases
constexpr std::int64_t max_batch = std::int64_t{1} << 40;

}  // namespace

std::int64_t min_sample_ns(std::int64_t batch, Sync sync, std::int64_t reading_ns) noexcept {
    if (sync != Sync::none) return min_clock_costs * reading_ns;
    return (batch == 1 ? single_clock_costs : batch_clock_costs) * reading_ns;
}

bool SwitchReadings::due(std::int64_t duration_ns, std::int64_t gap_ns, std::int64_t slack_ns) noexcept {
    if (typical_ns_ == 0) typical_ns_ = duration_ns;
    std::int64_t const min_excess = std::max(typical_ns_ / 2, switch_ns);
    bool const due =
        duration_ns >= cheap_reading_ns || duration_ns > typical_ns_ + min_excess || gap_ns > typical_ns_ + slack_ns;
    std::int64_t const step = std::max<std::int64_t>(typical_ns_ / 32, 1);
    typical_ns_ += duration_ns > typical_ns_ ? step : -step;
    return due;
}

SynchronisedPacing::SynchronisedPacing(Job job, Measurement& found)
    : job_(job), found_(found), watch_(false, job.context.threads == 1) {
    found_.lanes.resize(1);
    Lane& lane = found_.lanes[0];
    lane.role = job.kernel.role(0);
    expects(lane.role < job.info.roles.size() && job.info.roles[0].timed);
    auto const most = static_cast<std::size_t>(job.settings.samples + job.settings.warmup);
    if (role().timed) {
        lane.begin_ns.reserve(most);
        lane.duration_ns.reserve(most);
    }
    for (auto& values : job_.context.readings.values) values.reserve(most);
    found_.batch.assign(job.info.roles.size(), 1);
}

std::vector<std::vector<std::int64_t> const*> SynchronisedPacing::watched() const {
    if (job_.context.group.rank() != 0) return {};
    return {&steps_ns_};
}

void SynchronisedPacing::restart_intervals() {
    switches_ = involuntary_switches();
    last_end_ns_ = now_ns();
}

void SynchronisedPacing::sample() {
    Lane& lane = found_.lanes[0];
    Context& context = job_.context;
    if (job_.kernel.prepares()) {
        job_.kernel.prepare();
        switches_ = involuntary_switches();  // the step does not include those of the preparation
    }
    bool const timed = role().timed;
    context.marks.start();
    synchronise(context.group, job_.settings.sync);
    context.readings.on = timed;
    std::int64_t const begin = now_ns();
    job_.kernel.run(0, next_, found_.batch[0]);
    std::int64_t const end = now_ns();
    context.readings.on = false;
    next_ += found_.batch[0];
    ++taken_;
    last_ns_.push_back(lane.role == 0 ? end - begin : 0);
    if (timed) context.marks.keep(end - begin);
    bool const looks = switch_readings_.due(end - begin, begin - last_end_ns_, slack_ns(context.group));
    if (timed)
        keep(lane, begin, end, looks, switches_);
    else if (looks && switched_out(switches_))
        lane.preempted.push_back(taken_ - 1);
    last_end_ns_ = end;
}

void SynchronisedPacing::collect(std::int64_t count) {
    expects(static_cast<std::int64_t>(last_ns_.size()) == count);
    job_.context.group.sleeping_barrier(polls());
    job_.context.group.reduce_max_to_root(last_ns_);
    if (job_.context.group.rank() == 0) steps_ns_.insert(steps_ns_.end(), last_ns_.begin(), last_ns_.end());
    last_ns_.clear();
    if (job_.info.roles.size() > 1) collect_switches(count);
}

// Ranks of roles that are not timed have no series: their switches are stored with the samples of the group's first
// rank.
void SynchronisedPacing::collect_switches(std::int64_t count) {
    std::vector<std::int64_t> switched(static_cast<std::size_t>(count));
    std::vector<std::int64_t>& mine = found_.lanes[0].preempted;
    std::int64_t const first = taken_ - count;
    for (auto at = mine.rbegin(); at != mine.rend() && *at >= first; ++at)
        switched[static_cast<std::size_t>(*at - first)] = 1;
    if (role().timed && job_.context.group.rank() != 0) std::ranges::fill(switched, 0);
    job_.context.group.reduce_max_to_root(switched);
    if (job_.context.group.rank() != 0) return;
    while (!mine.empty() && mine.back() >= first) mine.pop_back();
    for (std::int64_t i = 0; i < count; ++i)
        if (switched[static_cast<std::size_t>(i)] != 0) mine.push_back(first + i);
}

void Steps::calibrate() {
    Comm const& group = job_.context.group;
    expects(group.max(std::int64_t{found_.lanes[0].role == 0 ? 1 : 0}) == 1);  // otherwise no rank measures the steps
    if (job_.kernel.prepares() || !job_.info.readings.empty()) {               // each step is a sample
        last_step_ns_ = std::max<std::int64_t>(quickest_batch(1), 1000);
        return;
    }
    std::int64_t const reading_ns = group.max(static_cast<std::int64_t>(measure_clock().cost_ns + 1));
    for (std::int64_t batch = 1;; batch *= 2) {
        std::int64_t const enough_ns = min_sample_ns(batch, job_.settings.sync, reading_ns);
        std::ranges::fill(found_.batch, batch);
        std::int64_t quickest = INT64_MAX;
        for (int i = 0; i < 3; ++i) {
            auto const times =
                std::clamp<std::int64_t>(1'000'000 / std::max<std::int64_t>(quickest, 1), 1, max_short_steps);
            quickest = std::min(quickest, quickest_batch(times));
            if (quickest > std::max(20 * enough_ns, no_doubt_ns)) break;  // once is enough for what takes so long
        }
        last_step_ns_ = std::max<std::int64_t>(quickest, 1000);
        if (quickest >= enough_ns || batch >= max_batch) return;
    }
}

// The quickest of `times` batches, for the slowest rank of the first role: the first step after a barrier also includes
// the skew with which the ranks leave it.
std::int64_t Steps::quickest_batch(std::int64_t times) {
    Comm const& group = job_.context.group;
    group.barrier();
    std::int64_t quickest = INT64_MAX;
    for (std::int64_t i = 0; i < times; ++i) {
        std::int64_t const begin = now_ns();
        job_.kernel.prepare();
        job_.kernel.run(0, next_, found_.batch[0]);
        quickest = std::min(quickest, now_ns() - begin);
        next_ += found_.batch[0];
    }
    group.sleeping_barrier(polls());
    return group.max(found_.lanes[0].role == 0 ? quickest : 0);
}

// How many steps the next round of a burst has; 0: the burst, which has taken `taken` so far, is over. The group's
// first rank decides from what the last ones took: one round of as many as fit, or where groups of different speed are
// at work, rounds until the burst's time is over.
std::int64_t Steps::next_count(std::int64_t taken, std::int64_t end_ns) const {
    // Where marks cost too much, bursts with and without them take turns: no burst may have most of the samples.
    std::int64_t const parts = job_.info.phases.empty() ? min_bursts : phased_bursts;
    std::int64_t const left = std::min(job_.settings.samples - taken_, job_.settings.samples / parts - taken);
    std::int64_t const time_ns = job_.alone ? static_cast<std::int64_t>(burst_s * 1e9) : (end_ns - now_ns()) / 2;
    if (taken > 0 && (now_ns() >= end_ns || left <= 0)) return 0;
    std::int64_t const fitting = std::clamp<std::int64_t>(time_ns / last_step_ns_, job_.alone ? 5 : 1, max_steps);
    return std::max<std::int64_t>(1, std::min(fitting, left));
}

void Steps::burst(Window const& window) {
    Comm const& group = job_.context.group;
    found_.lanes[0].cpu = current_cpu();
    pause_until(window.start_ns, job_.settings.share_cores);
    std::int64_t const end_ns = std::min(window.start_ns + static_cast<std::int64_t>(burst_s * 1e9), window.budget_ns);
    std::int64_t const before = taken_;
    std::int64_t count = 0;
    do {
        group.wait_for_root(polls());  // who has nothing to do sleeps here, not in the broadcast
        count = group.broadcast(next_count(taken_ - before, end_ns));
        round(count);
    } while (count > 0 && !job_.alone);
    collect(taken_ - before);
}

void Steps::round(std::int64_t count) {
    if (count == 0) return;
    watch_.begin();  // after the wait for the first rank, in which the others sleep
    if (job_.settings.sync == Sync::none && !job_.kernel.prepares() && job_.info.readings.empty())
        job_.kernel.run(0, next_++, 1);  // brings the ranks together after the broadcast
    restart_intervals();
    std::int64_t const begin = last_end_ns_;
    for (std::int64_t i = 0; i < count; ++i) sample();
    last_step_ns_ = std::max<std::int64_t>((now_ns() - begin) / count, 1000);
    found_.lanes[0].taken = watch_.end();
}

}  // namespace octant
