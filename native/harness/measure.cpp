#include "octant/measure.hpp"

#include "octant/sampling.hpp"
#include "octant/scheduling.hpp"
#include "octant/stopping.hpp"
#include "pace.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace octant {
namespace {

constexpr double look_s = 0.003;
constexpr double costly_marks = 0.01;  // above this part of the time every second burst runs with marks off

class Measurer {
  public:
    Measurer(Runnable* kernel, KernelInfo const& info, Context& context, Settings const& settings, Groups const& groups)
        : info_(info), context_(context), settings_(settings), groups_(groups), works_(kernel != nullptr) {
        if (works_)
            pacing_ = pacing_of({*kernel, info, context, settings, groups.members.size() == 1}, found_);
        else
            pacing_ = std::make_unique<Pacing>();
    }

    Measurement run() {
        found_.noise.before = sample_idle_noise(look_s);
        context_.marks.switch_on(false);
        pacing_->calibrate();
        measure_exit_skew();
        auto const from = NoiseTotals::read();
        auto const cpus = cpus_of_threads();
        std::int64_t const stolen = stolen_ns(cpus);
        std::int64_t const begin = now_ns();
        budget_ns_ = begin + static_cast<std::int64_t>(std::min(settings_.seconds, 1e9) * 1e9);
        for (int bursts = 1; found_.stopped_by.empty(); ++bursts) {
            one_burst(bursts % 2 == 1 || !costly_);
            inject_faults(During::measuring, context_.world.rank());
            if (costly_ && found_.marks_off.empty()) continue;  // no sample of a step yet that is one
            double const elapsed_s = static_cast<double>(now_ns() - begin) * 1e-9;
            found_.stopped_by = reason_to_stop(context_.world, watched(found_.marks_off),
                                               {bursts, pacing_->taken(), elapsed_s, pacing_->next_s()}, settings_);
        }
        found_.elapsed_ns = now_ns() - begin;
        if (stolen >= 0) found_.stolen_ns = std::max<std::int64_t>(0, stolen_ns(cpus) - stolen);
        found_.throttled = throttling_.most();
        found_.noise.during = difference(from, NoiseTotals::read());
        Comm const node = context_.world.node();
        found_.noise.during["node_own_cpu_s"] =
            static_cast<double>(node.sum(static_cast<std::int64_t>(found_.noise.during["own_cpu_s"] * 1e6))) * 1e-6;
        found_.noise.after = sample_idle_noise(look_s);
        found_.warmup = warmup();
        return std::move(found_);
    }

  private:
    [[nodiscard]] std::vector<std::vector<double>> watched(Ranges const& off) const {
        std::vector<std::vector<double>> series;
        for (auto const* one : pacing_->watched()) series.push_back(within(*one, off));
        return series;
    }

    [[nodiscard]] std::int64_t warmup() const {
        if (!settings_.settles) return settings_.warmup;
        std::int64_t most = 0;
        for (auto const& series : watched(found_.marks_off))
            most = std::max(most, place_in(found_.marks_off, static_cast<std::int64_t>(warmup_length(series))));
        return context_.world.max(most);
    }

    [[nodiscard]] std::vector<int> cpus_of_threads() const {
        std::vector<std::vector<int>> masks(static_cast<std::size_t>(context_.threads));
        if (works_) context_.on_each_thread([&](int t) { masks[static_cast<std::size_t>(t)] = allowed_cpus(); });
        std::set<int> cpus;
        for (auto const& mask : masks) cpus.insert(mask.begin(), mask.end());
        return {cpus.begin(), cpus.end()};
    }

    // All groups begin together, so that their samples can be compared in time.
    [[nodiscard]] std::int64_t common_start() const {
        Comm const& world = context_.world;
        world.wait_for_root();  // the others have had their last collective; rank 0 may have lost its core since
        if (!settings_.shared_clock) world.dissemination_barrier();
        std::int64_t const shared = world.broadcast(now_ns() + slack_ns(world));
        return settings_.shared_clock ? shared : now_ns() + slack_ns(world);
    }

    void one_burst(bool marks) {
        // One group of ranks that work together starts each burst by itself.
        bool const together = info_.pace != Pace::chunks && groups_.members.size() == 1;
        throttling_.begin();
        std::int64_t const start = together && found_.origin_ns != 0 ? now_ns() : common_start();
        if (found_.origin_ns == 0) found_.origin_ns = start;
        std::int64_t const before = pacing_->taken();
        context_.marks.switch_on(marks);
        pacing_->burst({start, budget_ns_});
        throttling_.end();
        if (!marks) found_.marks_off.emplace_back(before, pacing_->taken());
        if (info_.phases.empty() || costly_) return;
        found_.marks_share = context_.world.max(context_.marks.share(settings_.mark_ns));
        costly_ = found_.marks_share > costly_marks;
    }

    void measure_exit_skew() {
        Comm const& world = context_.world;
        bool const together = std::ranges::any_of(groups_.members, [](auto const& group) { return group.size() > 1; });
        if (!settings_.shared_clock || settings_.sync == Sync::none || !together) return;
        constexpr std::size_t trials = 100;
        std::vector<std::int64_t> exits;
        for (std::size_t i = 0; works_ && i < trials; ++i) {
            synchronise(context_.group, settings_.sync);
            exits.push_back(now_ns());
        }
        world.sleeping_barrier();  // idle ranks sleep until the others have calibrated: MPI_Gather would poll
        auto const all = world.gather(exits);
        for (std::size_t i = 0; i < trials && !all.empty(); ++i) {
            std::int64_t most = 0;
            for (auto const& group : groups_.members) {
                std::int64_t low = INT64_MAX, high = INT64_MIN;
                for (int rank : group) {
                    low = std::min(low, all[static_cast<std::size_t>(rank)][i]);
                    high = std::max(high, all[static_cast<std::size_t>(rank)][i]);
                }
                most = std::max(most, high - low);
            }
            found_.exit_skew_ns.push_back(most);
        }
    }

    KernelInfo const& info_;
    Context& context_;
    Settings const& settings_;
    Groups const& groups_;
    bool works_;
    bool costly_ = false;
    std::int64_t budget_ns_ = INT64_MAX;
    Throttling throttling_{cpu_groups().quotas};
    Measurement found_;
    std::unique_ptr<Pacing> pacing_;
};

}  // namespace

std::unique_ptr<Pacing> pacing_of(Job const& job, Measurement& found) {
    switch (job.info.pace) {
        case Pace::chunks:
            return std::make_unique<Chunks>(job, found);
        case Pace::steps:
            return std::make_unique<Steps>(job, found);
        case Pace::whole:
            return std::make_unique<Whole>(job, found);
    }
    return nullptr;
}

void pause_until(std::int64_t target_ns, bool share_cores) {
    if (share_cores)
        while (now_ns() < target_ns) usleep(50);
    else
        spin_until(target_ns);
}

bool switched_out(std::int64_t& switches) {
    std::int64_t const before = std::exchange(switches, involuntary_switches());
    return switches != before;
}

void keep(Lane& lane, std::int64_t begin_ns, std::int64_t end_ns, bool looks, std::int64_t& switches) {
    if (looks && switched_out(switches)) lane.preempted.push_back(static_cast<std::int64_t>(lane.begin_ns.size()));
    lane.begin_ns.push_back(begin_ns);
    lane.duration_ns.push_back(end_ns - begin_ns);
}

Results verified(Runnable& kernel, int rank) {
    inject_faults(During::verification, rank);
    if (auto const check = check_to_spoil()) kernel.corrupt(*check);
    return kernel.verify();
}

void keep_greatest(Results& checks, Results const& others) {
    if (checks.empty()) checks = others;
    expects(checks.size() == others.size());
    for (std::size_t i = 0; i < checks.size(); ++i)
        if (std::isfinite(checks[i].value) && !(others[i].value <= checks[i].value)) checks[i] = others[i];
}

Measurement measure(Runnable* kernel, KernelInfo const& info, Context& context, Settings const& settings,
                    Groups const& groups) {
    return Measurer(kernel, info, context, settings, groups).run();
}

}  // namespace octant
