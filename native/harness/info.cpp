#include "octant/failure.hpp"
#include "octant/groups.hpp"
#include "octant/kernel.hpp"
#include "octant/record.hpp"

#include <algorithm>
#include <iterator>

namespace octant {
namespace {

constexpr char const* sync_names[] = {"none", "barrier", "dissemination", "clock"};

char const* name_of(KnobKind kind) {
    static constexpr char const* names[] = {"integer", "bytes", "seconds", "real", "word"};
    return names[static_cast<int>(kind)];
}

void write_words(JsonText& text, char const* name, std::vector<std::string> const& words) {
    text.key(name).open('[');
    for (auto const& word : words) text.word(word);
    text.close(']');
}

void write_knob(JsonText& text, Knob const& knob, char const* owner) {
    text.open('{');
    text.key("name").word(knob.name);
    text.key("owner").word(owner);
    text.key("kind").word(name_of(knob.kind));
    text.key("default").word(knob.initial);
    text.key("help").word(knob.help);
    if (!knob.choices.empty()) write_words(text, "choices", knob.choices);
    if (knob.kind == KnobKind::integer || knob.kind == KnobKind::bytes) {
        text.key("least").number(knob.least);
        if (knob.most != INT64_MAX) text.key("most").number(knob.most);
    }
    text.close('}');
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

std::optional<Refusal> shape_refusal(KernelInfo const& info, Knobs const& knobs, int ranks) {
    auto const threads = static_cast<int>(knobs.integer("threads"));
    std::size_t last = 0;  // ranks of the group before: most have as many
    for (auto const& group : Groups::parse(knobs.word("groups"), ranks, info.min_ranks).members) {
        if (info.takes == nullptr || group.size() == last) continue;
        last = group.size();
        if (auto const refusal = info.takes(static_cast<int>(last), threads, knobs)) return refusal;
    }
    return {};
}

std::vector<Knob> harness_knobs(KernelInfo const& info, bool whole) {
    std::vector<Knob> knobs = {
        {"threads", KnobKind::integer, "1", "threads of each rank", {}, 1, 4096},
        {"groups", KnobKind::word, "all",
         "groups of ranks that communicate; other ranks are idle: all, a size, first:N, lists such as 0+4/1+5, or "
         "pairs: shift:K, shift:P/2, round:0, mirror, far:4x4x4"},
        {"pin",
         KnobKind::word,
         "each",
         "each: bind every thread to its own hardware thread; none: no binding",
         {"each", "none"}},
        {"pages", KnobKind::word, "default", "page size of the data: default, base, thp, try-thp, 2MiB, 1GiB, …"},
        {"layout",
         KnobKind::word,
         "auto",
         "physical pages: given: as the system assigns them; random: selected at random (base pages, up to L2 size); "
         "auto: random with pages=base up to L2 size",
         {"auto", "given", "random"}},
        {"memory", KnobKind::word, "default",
         "NUMA policy of the data: default, local, interleave[:0+1], bind:0+1 (or bind:0,1), preferred:0"},
        {"hwprefetch",
         KnobKind::word,
         "keep",
         "hardware prefetchers of the cores in use: keep, or on or off during the measurement (restored afterwards)",
         {"keep", "on", "off"}},
        {"seconds", KnobKind::seconds, "0.2", "time budget per measurement"},
        {"samples",
         KnobKind::integer,
         "5000",
         "maximum number of samples per thread or step",
         {},
         whole ? 1 : 5,
         1'000'000},
        {"least",
         KnobKind::integer,
         "30",
         "minimum number of samples before precision may end a measurement",
         {},
         5,
         1'000'000},
        {"precision", KnobKind::real, "0.01",
         "relative half-width of the 95 % interval of the median at which a measurement ends"},
        {"sync",
         KnobKind::word,
         name_of(info.sync),
         "synchronisation of ranks before each step",
         {std::begin(sync_names), std::end(sync_names)}},
    };
    if (whole)
        knobs.push_back({"warmup", KnobKind::integer, "0", "repetitions that are not counted", {}, 0, 1'000'000});
    for (auto const& [name, value] : info.defaults) {
        auto const knob = std::ranges::find(knobs, name, &Knob::name);
        expects(knob != knobs.end());
        knob->initial = value;
    }
    return knobs;
}

namespace {

// Properties that differ between the kernels of a program.
void write_row(JsonText& text, KernelInfo const& info) {
    text.key("pace").word(name_of(info.pace));
    write_words(text, "phases", info.phases);
    text.key("roles").open('[');
    for (auto const& role : info.roles) {
        text.open('{');
        text.key("name").word(role.name);
        text.key("timed").boolean(role.timed);
        text.key("waits").word(role.waits == Waits::polls ? "polls" : "sleeps");
        text.close('}');
    }
    text.close(']');
    text.key("readings").open('[');
    for (auto const& reading : info.readings) {
        text.open('{');
        text.key("name").word(reading.name);
        text.key("unit").word(reading.unit);
        text.close('}');
    }
    text.close(']');
    text.key("least_ranks").number(info.min_ranks);
    text.key("takes").boolean(info.takes != nullptr);  // whether some shapes are refused
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
        Knob knob{chooser, KnobKind::word, rows.front().name, "what is measured"};
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
    std::size_t const own = first.knobs.size() + (program.chooser.empty() ? 0 : 1);  // the others are the harness's
    JsonText text;
    text.open('{');
    text.key("format").number(record_format);
    text.key("workload").word(workload);
    write_row(text, first);
    text.key("library_threads").boolean(first.library_threads);
    text.key("sample_ns").number(first.sample_ns);
    text.key("sync").word(name_of(first.sync));
    text.key("knobs").open('[');
    for (std::size_t i = 0; i < all.size(); ++i) write_knob(text, all[i], i < own ? "kernel" : "harness");
    text.close(']');
    text.key("build").raw(build_text());
    if (!program.chooser.empty()) {
        text.key("chooser").word(program.chooser);
        text.key("rows").open('{');
        for (Row const& row : program.rows) {
            text.key(row.name).open('{');
            write_row(text, row.info);
            text.close('}');
        }
        text.close('}');
    }
    text.close('}');
    return indented(text.text());
}

}  // namespace octant
