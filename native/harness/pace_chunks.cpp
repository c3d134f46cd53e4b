// Lanes: each thread of each rank repeats chunks of its own.
#include "octant/clock.hpp"
#include "octant/noise.hpp"
#include "octant/sampling.hpp"
#include "pace.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <vector>

namespace octant {
namespace {

constexpr double burst_samples = 8;  // longer samples make longer bursts: lanes end theirs one by one
constexpr int clock_blocks = 3;      // about 20 us
constexpr double bound_by_chain =
    0.9;  // below, the execution units limited the piece, and the clock is the better estimate
constexpr std::int64_t max_batch = std::int64_t{1} << 40;

}  // namespace

Chunks::Chunks(Job job, Measurement& found) : job_(job), found_(found) {
    expects(job.info.roles[0].timed);  // else no sample would ever end the point
    expects(job.info.phases.empty() && job.info.readings.empty() && !job.kernel.prepares());  // those are of steps
    auto const lanes = static_cast<std::size_t>(job.info.library_threads ? 1 : job.context.threads);
    found_.lanes.resize(lanes);
    for (std::size_t t = 0; t < lanes; ++t) {
        Lane& lane = found_.lanes[t];
        lane.thread = static_cast<int>(t);
        bool const alone = !job.info.library_threads || job.context.threads == 1;
        watches_.emplace_back(alone, alone);
        lane.role = job.kernel.role(lane.thread);
        expects(lane.role < job.info.roles.size());
        leaders_ += lane.role == 0 ? 1 : 0;
        lane.begin_ns.reserve(static_cast<std::size_t>(job.settings.samples));
        lane.duration_ns.reserve(static_cast<std::size_t>(job.settings.samples));
    }
    next_.assign(lanes, 0);
    found_.batch.assign(job.info.roles.size(), 1);
}

std::vector<std::vector<std::int64_t> const*> Chunks::watched() const {
    std::vector<std::vector<std::int64_t> const*> series;
    for (auto const& lane : found_.lanes)
        if (lane.role == 0) series.push_back(&lane.duration_ns);
    return series;
}

std::int64_t Chunks::taken() const {
    std::size_t most = 0;
    for (auto const& lane : found_.lanes)
        if (leads(lane)) most = std::max(most, lane.begin_ns.size());
    return static_cast<std::int64_t>(most);
}

// All lanes at once, as they will work, each role with a batch of its own that grows until a sample is long enough.
void Chunks::calibrate() {
    std::int64_t const enough_ns = job_.info.sample_ns;
    for (bool grows = true; grows;) {
        std::vector<std::int64_t> quickest(found_.batch.size(), INT64_MAX);
        grows = false;
        if (repeat_three_times(quickest, enough_ns)) return;
        for (std::size_t role = 0; role < quickest.size(); ++role) {
            bool const short_yet = quickest[role] > 0 && quickest[role] < enough_ns;
            if (!short_yet || found_.batch[role] >= max_batch) continue;
            found_.batch[role] *= 2;
            grows = true;
        }
    }
}

// Of three trials the quickest counts in each role; true where every role's is beyond doubt.
bool Chunks::repeat_three_times(std::vector<std::int64_t>& quickest, std::int64_t enough_ns) {
    for (int i = 0; i < 3; ++i) {
        auto const times = try_batches();
        std::int64_t shortest = INT64_MAX;
        for (std::size_t role = 0; role < times.size(); ++role) {
            quickest[role] = std::min(quickest[role], job_.context.group.max(times[role]));
            if (quickest[role] > 0) shortest = std::min(shortest, quickest[role]);
        }
        double const longest_s = static_cast<double>(std::ranges::max(quickest)) * 1e-9;
        burst_s_ = std::max(burst_s, std::min(burst_samples * longest_s, job_.settings.seconds / 4));
        if (shortest > std::max(20 * enough_ns, no_doubt_ns)) return true;  // and a library call may take seconds
    }
    return false;
}

// One batch in every lane at once; the longest time of each role, ns; 0 for roles that no lane of this rank has.
std::vector<std::int64_t> Chunks::try_batches() {
    std::vector<std::int64_t> took(found_.lanes.size(), INT64_MAX), longest(found_.batch.size(), 0);
    busy_ = leaders_;
#pragma omp parallel num_threads(static_cast<int>(found_.lanes.size()))
    {
        auto const t = static_cast<std::size_t>(omp_get_thread_num());
        Lane const& lane = found_.lanes[t];
        std::int64_t const batch = found_.batch[lane.role];
        do {
            std::int64_t const begin = now_ns();
            job_.kernel.run(lane.thread, next_[t], batch);
            took[t] = std::min(took[t], now_ns() - begin);
            next_[t] += batch;
        } while (!leads(lane) && busy_ > 0);
        if (leads(lane)) --busy_;
    }
    for (std::size_t t = 0; t < took.size(); ++t)
        longest[found_.lanes[t].role] = std::max(longest[found_.lanes[t].role], took[t]);
    return longest;
}

void Chunks::burst(Window const& window) {
    std::int64_t const end = std::min(window.start_ns + static_cast<std::int64_t>(burst_s_ * 1e9), window.budget_ns);
    busy_ = leaders_;
#pragma omp parallel num_threads(static_cast<int>(found_.lanes.size()))
    work_alone(static_cast<std::size_t>(omp_get_thread_num()), window.start_ns, end);
}

void Chunks::work_alone(std::size_t number, std::int64_t start_ns, std::int64_t end_ns) {
    Lane& lane = found_.lanes[number];
    lane.cpu = current_cpu();
    bool const leading = leads(lane), timed = job_.info.roles[lane.role].timed;
    std::int64_t const batch = found_.batch[lane.role];
    std::int64_t switches = involuntary_switches();
    pause_until(start_ns, job_.settings.share_cores);
    auto const first = static_cast<std::int64_t>(lane.begin_ns.size());
    std::int64_t const wall_before_ns = lane.taken.wall;
    watches_[number].begin();
    // At least one sample a burst, however long it takes: the budget bounds bursts, not truth. A load or a partner
    // works for as long as the lanes that lead do.
    do {
        bool const full = static_cast<std::int64_t>(lane.begin_ns.size()) >= job_.settings.samples;
        if (full && leading) break;
        std::int64_t const begin = now_ns();
        job_.kernel.run(lane.thread, next_[number], batch);
        if (timed && !full) keep(lane, begin, now_ns(), true, switches);
        next_[number] += batch;
    } while (leading ? now_ns() < end_ns : busy_ > 0);
    lane.taken = watches_[number].end();
    lane.bursts.push_back({first, lane.taken.wall - wall_before_ns});
    if (leading) --busy_;
    lane.clock_hz.push_back(static_cast<std::int64_t>(clock_at_work(lane.thread)));
}

// Of the core that this lane runs on, in the middle of the kernel's work where the kernel can tell, else right after.
// The median of the pieces of a kind, as rates are medians: the fastest piece would be a higher clock than the work
// had.
double Chunks::clock_at_work(int lane) const {
    std::array<std::vector<double>, 2> pieces_hz;
    for (int i = 0; i < 2 * clock_blocks; ++i) {
        std::int64_t const begin = now_ns();
        auto const cycles = static_cast<double>(job_.kernel.cycles(lane, i % 2));
        if (cycles == 0) return core_frequency_hz(clock_blocks);
        pieces_hz[static_cast<std::size_t>(i % 2)].push_back(cycles / (static_cast<double>(now_ns() - begin) * 1e-9));
    }
    double const busy_hz = median_interval(pieces_hz[0]).middle, easy_hz = median_interval(pieces_hz[1]).middle;
    return busy_hz > bound_by_chain * easy_hz ? busy_hz : easy_hz;
}

}  // namespace octant
