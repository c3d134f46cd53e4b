#include "octant/failure.hpp"
#include "octant/kernel.hpp"
#include "octant/record.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace octant {
namespace {

using Json = nlohmann::ordered_json;

constexpr char const* sync_names[] = {"none", "barrier", "dissemination", "clock"};

char const* name_of(KnobKind kind) {
    static constexpr char const* names[] = {"integer", "bytes", "seconds", "real", "word"};
    return names[static_cast<int>(kind)];
}

Json knobs_json(std::vector<Knob> const& list, char const* owner) {
    Json knobs = Json::array();
    for (auto const& knob : list) {
        Json item = {{"name", knob.name},
                     {"owner", owner},
                     {"kind", name_of(knob.kind)},
                     {"default", knob.initial},
                     {"help", knob.help}};
        if (!knob.choices.empty()) item["choices"] = knob.choices;
        if (knob.kind == KnobKind::integer || knob.kind == KnobKind::bytes) {
            item["least"] = knob.least;
            if (knob.most != INT64_MAX) item["most"] = knob.most;
        }
        knobs.push_back(item);
    }
    return knobs;
}

}  // namespace

char const* name_of(Pace pace) {
    static constexpr char const* names[] = {"chunks", "steps", "whole"};
    return names[static_cast<int>(pace)];
}

char const* name_of(Sync sync) { return sync_names[static_cast<int>(sync)]; }

Sync sync_of(std::string const& word) {
    auto const* const found = std::ranges::find(sync_names, word);
    return static_cast<Sync>(std::distance(std::begin(sync_names), found));
}

std::vector<Knob> harness_knobs(KernelInfo const& info, bool whole) {
    std::vector<Knob> knobs = {
        {"threads", KnobKind::integer, "1", "threads of each rank", {}, 1, 4096},
        {"groups", KnobKind::word, "all",
         "ranks that work together, the others wait: all, a size, first:N, lists such as 0+4/1+5, or pairs: shift:K, "
         "shift:P/2, round:0, mirror, far:4x4x4"},
        {"pin",
         KnobKind::word,
         "each",
         "each: every thread on a hardware thread of its own; none: leave it to the system",
         {"each", "none"}},
        {"pages", KnobKind::word, "default", "page size of the data: default, base, thp, try-thp, 2MiB, 1GiB, …"},
        {"layout",
         KnobKind::word,
         "auto",
         "physical pages: given by the system, drawn at random (base pages, within L2), or auto: random where "
         "pages=base "
         "and within L2",
         {"auto", "given", "random"}},
        {"memory", KnobKind::word, "default",
         "NUMA policy of the data: default, local, interleave[:0+1], bind:0+1 (or bind:0,1), preferred:0"},
        {"hwprefetch",
         KnobKind::word,
         "keep",
         "hardware prefetchers of the cores in use: keep, on or off until the point ends, whatever ends it",
         {"keep", "on", "off"}},
        {"seconds", KnobKind::seconds, "0.2", "time budget of a point in each launch"},
        {"samples",
         KnobKind::integer,
         "5000",
         "most samples of a lane or step, all kept",
         {},
         whole ? 1 : 5,
         1'000'000},
        {"least", KnobKind::integer, "30", "fewest samples before the interval may stop a point", {}, 5, 1'000'000},
        {"precision", KnobKind::real, "0.01", "stop when the median's 95 % interval is within this fraction"},
        {"sync",
         KnobKind::word,
         name_of(info.sync),
         "how ranks start a step together",
         {std::begin(sync_names), std::end(sync_names)}},
    };
    if (whole)
        knobs.push_back({"warmup", KnobKind::integer, "0", "repetitions before those that count", {}, 0, 1'000'000});
    for (auto const& [name, value] : info.defaults) {
        auto const knob = std::ranges::find(knobs, name, &Knob::name);
        expects(knob != knobs.end());
        knob->initial = value;
    }
    return knobs;
}

namespace {

// What differs between the kernels of a program.
Json row_json(KernelInfo const& info) {
    Json roles = Json::array(), readings = Json::array();
    for (auto const& role : info.roles)
        roles.push_back(
            {{"name", role.name}, {"timed", role.timed}, {"waits", role.waits == Waits::polls ? "polls" : "sleeps"}});
    for (auto const& reading : info.readings) readings.push_back({{"name", reading.name}, {"unit", reading.unit}});
    return {{"pace", name_of(info.pace)},
            {"phases", info.phases},
            {"roles", roles},
            {"readings", readings},
            {"least_ranks", info.least_ranks}};
}

}  // namespace

Row const& Program::of(Knobs const& knobs) const {
    if (chooser.empty()) return rows.front();
    auto const found = std::ranges::find(rows, knobs.word(chooser), &Row::name);
    expects(found != rows.end());  // Knobs has checked the choice
    return *found;
}

std::vector<Knob> Program::knobs() const {
    KernelInfo const& first = rows.front().info;
    std::vector<Knob> all = first.knobs;
    if (!chooser.empty()) {
        Knob knob{chooser, KnobKind::word, rows.front().name, "what is done"};
        for (Row const& row : rows) knob.choices.push_back(row.name);
        all.insert(all.begin(), knob);
    }
    bool whole = false;
    for (Row const& row : rows) {
        expects(row.info.sync == first.sync && row.info.thread_multiple == first.thread_multiple &&
                std::ranges::equal(row.info.knobs, first.knobs, {}, &Knob::name, &Knob::name));
        whole = whole || row.info.pace == Pace::whole;
    }
    for (auto const& knob : harness_knobs(first, whole)) all.push_back(knob);
    return all;
}

std::string describe(std::string const& workload, Program const& program) {
    KernelInfo const& first = program.rows.front().info;
    auto const all = program.knobs();
    auto const own = all.begin() + static_cast<std::ptrdiff_t>(first.knobs.size() + (program.chooser.empty() ? 0 : 1));
    Json knobs = knobs_json({all.begin(), own}, "kernel");
    for (auto const& knob : knobs_json({own, all.end()}, "harness")) knobs.push_back(knob);
    Json text = {{"format", record_format}, {"workload", workload}};
    text.update(row_json(first));
    text.update({{"library_threads", first.library_threads},
                 {"sample_ns", first.sample_ns},
                 {"sync", name_of(first.sync)},
                 {"knobs", knobs},
                 {"build", Json::parse(build_text())}});
    if (!program.chooser.empty()) {
        text["chooser"] = program.chooser;
        for (Row const& row : program.rows) text["rows"][row.name] = row_json(row.info);
    }
    return text.dump(2);
}

}  // namespace octant
