// A record that would be too large keeps what it must, and stays small.
#include "check.hpp"
#include "json.hpp"
#include "octant/sketch.hpp"
#include "point_text.hpp"

#include <algorithm>
#include <numeric>

namespace {

using octant::Json;
constexpr std::int64_t steps = 2500;

octant::Lane lane(int thread) {
    octant::Lane made;
    made.thread = thread;
    std::int64_t at = 1000;
    for (std::int64_t i = 0; i < steps; ++i) {
        at += 10 + i % 3;
        made.begin_ns.push_back(at);
        made.duration_ns.push_back(100'000 + (i * 7919) % 1000);  // all different within a thousand
        at += made.duration_ns.back();
    }
    made.preempted = {5, 6, 100};
    return made;
}

struct Facts {
    octant::KernelInfo info{};
    octant::Outcome outcome{.settings = {1, 100, 10, 0.01, octant::Sync::none, true, false}, .measured = {}};
    octant::Marks marks = octant::Marks{};
    octant::Readings readings = {};
};

Json written(octant::Comm const& world, Facts const& facts, octant::Limits const& limits) {
    octant::Knobs const knobs({});
    octant::Context context{.world = world,
                            .group = world,
                            .knobs = knobs,
                            .threads = 1,
                            .pages = octant::PagePolicy::parse("base"),
                            .nodes = octant::NodePolicy::parse("default")};
    context.marks = facts.marks;
    context.readings = facts.readings;
    auto const groups = octant::Groups::parse("all", 1, 1);
    octant::JsonText text;
    text.open('{');
    octant::write_point(text, {facts.info, context, groups, facts.outcome, limits});
    text.key("size").number(text.text().size());
    text.close('}');
    return Json::parse(text.text());
}

Facts of_steps() {
    Facts facts;
    facts.info.pace = octant::Pace::steps;
    facts.info.phases = {"pack"};
    facts.info.readings = {{"residual", "1"}};
    facts.marks = octant::Marks({"pack"}, steps);
    facts.marks.switch_on(true);
    for (int i = 0; i < steps; ++i) {
        facts.marks.start();
        facts.marks.keep(1);
    }
    facts.readings.values = {std::vector<double>(30'000, 0.5)};
    facts.outcome.measured.lanes = {lane(0)};
    facts.outcome.measured.origin_ns = 1000;
    facts.outcome.measured.batch = {1};
    facts.outcome.work = {{}};
    return facts;
}

void of_many_steps(octant::Checks& checks, octant::Comm const& world) {
    Facts const facts = of_steps();
    auto const& ns = facts.outcome.measured.lanes[0].duration_ns;
    Json const full = written(world, facts, {});
    checks.that(!full.contains("form") && full["series"].size() == 3, "what fits is kept whole");
    checks.that(full["series"][1]["entries"] == 0, "equal entries are one number");
    Json const lists = written(world, facts, {100'000, 60'000});
    checks.that(lists["form"] == "reduced" && lists["reduced"].size() == 2, "step and phase");
    Json const step = lists["reduced"][0];
    checks.that(step["slowest_ns"] == ns && step["slowest_rank"].size() == ns.size(), "each step's slowest rank");
    checks.that(step["preempted"] == std::vector<std::int64_t>{5, 6, 100}, "in which steps a rank was switched out");
    checks.that(!lists["reduced"][1].contains("preempted"), "once");
    std::int64_t const sum = std::accumulate(ns.begin(), ns.end(), std::int64_t{0});
    checks.that(step["ranks"][0] == std::vector<std::int64_t>{0, steps, sum, 100'000, 100'999}, "exact sums");
    checks.that(step["sketch"]["count"] == steps, "all times");
    checks.that(lists["series"].size() == 1 && lists["series"][0]["every"] == 2, "readings, thinned");
    Json const sketches = written(world, facts, {80'000, 2'000});
    Json const short_step = sketches["reduced"][0];
    checks.that(!short_step.contains("slowest_ns") && short_step["slowest"]["count"] == steps, "else a sketch");
    checks.that(short_step["blocks_ns"].size() == 3, "sums over a thousand steps");
    checks.that(short_step["blocks_ns"][0] == std::accumulate(ns.begin(), ns.begin() + 1000, std::int64_t{0}), "exact");
    checks.that(short_step["worst"].size() == 64, "and the slowest");
    checks.that(short_step["worst"][0][2] == 100'999, "the slowest of all first");
    auto const slowest = static_cast<std::size_t>(short_step["worst"][0][0].whole());
    checks.that(ns[slowest] == 100'999, "with its place");
    checks.that(!short_step.contains("preempted"), "flags of the slowest alone");
    Facts disturbed = of_steps();
    disturbed.outcome.measured.lanes[0].preempted = {1, static_cast<std::int64_t>(slowest)};
    Json const flagged = written(world, disturbed, {80'000, 2'000})["reduced"][0];
    checks.that(flagged["preempted"] == std::vector{static_cast<std::int64_t>(slowest)},
                "and whether one of these was disturbed");
}

void of_many_chunks(octant::Checks& checks, octant::Comm const& world) {
    Facts facts;
    facts.outcome.measured.lanes = {lane(0), lane(1)};
    for (auto& one : facts.outcome.measured.lanes) {
        std::int64_t const span_ns = one.begin_ns[999] + one.duration_ns[999] - one.begin_ns[0];
        one.bursts = {{0, span_ns + 77}, {1000, 1'000'000'000}, {steps, 5}};
    }
    facts.outcome.measured.origin_ns = 1000;
    facts.outcome.measured.batch = {1};
    facts.outcome.work = {{}};
    Json const read = written(world, facts, {32'000, 1'000});
    auto const k = read["coalesced"].whole();
    checks.that(k >= 2 && (k & (k - 1)) == 0 && read["size"] <= 32'000, "neighbours are added up until they fit");
    Json const series = read["series"][0];
    auto const ns = series["ns"].integers(), gaps = series["gap_ns"].integers();
    auto const samples = static_cast<std::size_t>(steps / k * k);
    auto const& all = facts.outcome.measured.lanes[0];
    checks.that(ns.size() == samples / static_cast<std::size_t>(k), "whole ones only");
    checks.that(std::accumulate(ns.begin(), ns.end(), std::int64_t{0}) ==
                    std::accumulate(all.duration_ns.begin(),
                                    all.duration_ns.begin() + static_cast<std::ptrdiff_t>(samples), std::int64_t{0}),
                "times add up");
    std::int64_t const end = std::accumulate(ns.begin(), ns.end(), std::int64_t{0}) +
                             std::accumulate(gaps.begin(), gaps.end(), std::int64_t{0});
    checks.that(end == all.begin_ns[samples - 1] + all.duration_ns[samples - 1] - 1000, "and so do times and gaps");
    checks.that(series["preempted"].size() == (5 / k == 6 / k ? 2U : 3U), "flags of what was added up");
    Json const reduced = read["reduced"][0];
    checks.that(reduced["ranks"][0][1] == 2 * steps && reduced["sketch"]["count"] == 2 * steps, "of both lanes");
    checks.that(reduced["worst"].size() == 64 && reduced["worst"][0].size() == 4, "the slowest with their lanes");
    checks.that(reduced["gaps"]["count"] == 2 * steps, "times between two samples of a burst, and at its ends");
    auto const at_end = static_cast<std::int64_t>(octant::Sketch::bin(77));
    auto const held = std::ranges::count_if(reduced["gaps"]["bins"], [&](Json const& run) { return run[0] == at_end; });
    checks.that(held == 1, "what a burst has beyond its samples and the times between them");
    auto const span_ns = facts.outcome.measured.lanes[0].bursts[0].wall_ns;
    checks.that(series["bursts"].size() == 2 && series["bursts"][0] == std::vector<std::int64_t>{0, span_ns} &&
                    series["bursts"][1] == std::vector<std::int64_t>{1000 / k, 1'000'000'000},
                "the samples in which bursts begin, in those that are kept, and their lengths");
    Json const least = written(world, facts, {100, 100});
    checks.that(least["series"].empty() && least["reduced"][0]["ranks"][0][1] == 2 * steps, "sums fit in any case");
}

}  // namespace

int main(int argc, char** argv) {
    octant::Session const session(&argc, &argv);
    octant::Checks checks;
    of_many_steps(checks, session.world());
    of_many_chunks(checks, session.world());
    return checks.result();
}
