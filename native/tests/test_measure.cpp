// The harness's loop: bounded by time and by count, warm, batched; and the clock that it reads.
#include "octant/measure.hpp"
#include "octant/stopping.hpp"
#include "pace.hpp"

#include "check.hpp"

#include <algorithm>

namespace {

using octant::now_ns;
using octant::Settings;
using octant::Sync;

class Spin : public octant::Runnable {  // takes `step_ns` a chunk or step
  public:
    explicit Spin(std::int64_t step_ns) : step_ns_(step_ns) {}
    void run(int, std::int64_t, std::int64_t count) override { octant::spin_until(now_ns() + count * step_ns_); }
    octant::Counts work(std::size_t) override { return {}; }
    octant::Results verify() override { return {{"none", 0, "1", 0}}; }
    void corrupt(std::size_t) override {}

  private:
    std::int64_t step_ns_;
};

octant::Measurement measured(octant::Comm const& world, octant::Runnable& kernel, Settings const& settings,
                             int threads = 1, octant::KernelInfo const& info = {}) {
    octant::Knobs const knobs({});
    octant::Context context{.world = world,
                            .group = world,
                            .knobs = knobs,
                            .threads = threads,
                            .pages = octant::PagePolicy::parse("base"),
                            .nodes = octant::NodePolicy::parse("default")};
    return octant::measure(&kernel, info, context, settings, octant::Groups::parse("all", world.size(), 1));
}

Settings settings(double seconds, std::int64_t samples, double precision, bool share = false) {
    return {seconds, samples, 10, precision, Sync::none, true, share};
}

void bounds(octant::Checks& checks, octant::Comm const& world) {
    Spin lanes(1000);
    auto const counted = measured(world, lanes, settings(5, 300, 0));
    checks.that(counted.stopped_by == "samples" && counted.lanes[0].duration_ns.size() == 300, "300 samples, no more");
    checks.that(counted.batch[0] >= 32 && counted.batch[0] <= 256, "chunks of 1 us are batched to about 100 us");
    checks.that(!counted.lanes[0].clock_hz.empty() && counted.lanes[0].clock_hz[0] > 100'000'000, "the clock is read");
    std::int64_t const begin = now_ns();
    auto const timed = measured(world, lanes, settings(0.1, 1'000'000, 0));
    checks.that(timed.stopped_by == "time", "the budget ends it");
    checks.that(now_ns() - begin < 3'000'000'000, "and soon");
    Spin slow(30'000'000);
    auto const few = measured(world, slow, settings(0.05, 1'000'000, 0.01));
    checks.that(few.batch[0] == 1 && !few.lanes[0].duration_ns.empty(),
                "a chunk beyond the budget is measured all the same");
}

void lanes_and_steps(octant::Checks& checks, octant::Comm const& world) {
    Spin lanes(50'000);
    auto const two = measured(world, lanes, settings(0.2, 2000, 0, true), 2);
    checks.that(two.lanes.size() == 2 && two.lanes[1].thread == 1, "a lane for each thread");
    checks.that(!two.lanes[1].duration_ns.empty(), "both lanes ran, even on one core");
    Spin steps(5000);
    auto const stepped = measured(world, steps, settings(0.2, 2000, 0), 1, {.pace = octant::Pace::steps});
    checks.that(stepped.lanes.size() == 1, "steps have one lane");
    auto durations = stepped.lanes[0].duration_ns;
    std::ranges::sort(durations);
    double const typical = static_cast<double>(durations[durations.size() / 2]) / static_cast<double>(stepped.batch[0]);
    checks.that(typical >= 4990, "a step is as long as it is");
    checks.that(std::ranges::is_sorted(stepped.lanes[0].begin_ns), "samples stand in the order of time");
}

// A batch of 2 or 4 steps has no use: see single_clock_costs.
void batches(octant::Checks& checks, octant::Comm const& world) {
    constexpr std::int64_t reading_ns = 22;
    bool apart = true;
    for (std::int64_t step_ns = 1; step_ns < 10'000; ++step_ns) {
        std::int64_t batch = 1;
        while (batch * step_ns < octant::min_sample_ns(batch, Sync::none, reading_ns)) batch *= 2;
        apart = apart && (batch == 1 || batch >= 8);
    }
    checks.that(apart, "a sample is one step, or eight and more");
    checks.that(octant::min_sample_ns(1, Sync::clock, reading_ns) == 20 * reading_ns, "synchronised: 20 readings");
    auto const batch_of = [&](std::int64_t step_ns) {
        Spin steps(step_ns);
        return measured(world, steps, settings(0.05, 500, 0), 1, {.pace = octant::Pace::steps}).batch[0];
    };
    checks.that(batch_of(90 * static_cast<std::int64_t>(octant::measure_clock().cost_ns + 1)) == 1,
                "a step of 90 readings of the clock is a sample");
    checks.that(batch_of(100) >= 8, "steps of 100 ns are batched");
}

// The partner of a short step waits while this thread reads its switches.
void switch_readings(octant::Checks& checks) {
    octant::SwitchReadings readings;
    static_cast<void>(readings.due(300, 0, 20'000));  // the first step after a broadcast may find its message waiting
    std::int64_t due = 0;
    for (int i = 0; i < 3000; ++i) due += readings.due(i % 3 == 0 ? 1750 : 1350, 50, 20'000) ? 1 : 0;
    checks.that(due < 100, "not after steps of the slower of two modes");
    checks.that(readings.due(4'000'000, 50, 20'000), "after a step that contains a time slice");
    checks.that(readings.due(3000, 50, 20'000), "after a step that contains a short switch");
    checks.that(readings.due(1350, 3'000'000, 20'000), "after a step that begins late");
    checks.that(!readings.due(1350, 50, 20'000), "not after the next one");
    for (int i = 0; i < 3000; ++i) static_cast<void>(readings.due(10'000'000, 50, 20'000));
    checks.that(readings.due(10'000'000, 50, 20'000), "after each long step, most of which contain a switch");
}

class Swing final : public Spin {  // its level changes every 50 chunks, by a tenth
  public:
    Swing() : Spin(0) {}
    void run(int, std::int64_t first, std::int64_t count) override {
        for (std::int64_t i = first; i < first + count; ++i)
            octant::spin_until(now_ns() + 110'000 + (i / 50 * 7 % 11 - 5) * 2'000);
    }
};

void swings(octant::Checks& checks, octant::Comm const& world) {
    Swing swing;
    auto const found = measured(world, swing, settings(0.6, 1'000'000, 0.01));
    checks.that(found.stopped_by == "time", "alike neighbours do not pass for precision");
    checks.that(found.lanes[0].begin_ns[0] >= found.origin_ns && found.origin_ns > 0, "lanes are let go at a moment");
    checks.that(found.noise.during.contains("node_own_cpu_s"), "the CPU time of all ranks here");
}

void repetitions(octant::Checks& checks, octant::Comm const& world) {
    std::vector<double> series(10, 1.0);
    std::fill_n(series.begin(), 4, 2.0);
    Settings whole = settings(100, 1000, 0.01);
    whole.least = 5;
    auto const reason = [&] { return octant::reason_to_stop(world, {series}, {5, 10, 0, 0}, whole); };
    checks.that(reason() == "interval", "slow ones at the begin are the warm-up");
    whole.settles = false;
    checks.that(reason().empty(), "but not where a record says that there is none");
    whole.warmup = 4;
    checks.that(reason() == "interval", "unless it was asked for");
}

void clocks(octant::Checks& checks) {
    auto const quality = octant::measure_clock();
    checks.that(quality.cost_ns > 0 && quality.cost_ns < 1e5, "a reading costs something, but not much");
    checks.that(quality.resolution_ns >= 1, "the clock moves");
    double const hertz = octant::core_frequency_hz(3);
    checks.that(hertz > 1e8 && hertz < 1e10, "a plausible clock");
}

}  // namespace

int main(int argc, char** argv) {
    octant::Session const session(&argc, &argv);
    octant::Checks checks;
    bounds(checks, session.world());
    lanes_and_steps(checks, session.world());
    batches(checks, session.world());
    switch_readings(checks);
    swings(checks, session.world());
    repetitions(checks, session.world());
    clocks(checks);
    return checks.result();
}
