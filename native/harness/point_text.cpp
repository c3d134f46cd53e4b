#include "point_text.hpp"

#include "octant/scheduling.hpp"
#include "series.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace octant {
namespace {

constexpr std::size_t max_readings = 20'000;  // in the reduced form, of all readings and groups

void write_scheduling(JsonText& text, Scheduling const& found) {
    text.key("scheduling").open('{');
    text.key("policy").word(found.policy);
    text.key("priority").number(found.priority);
    text.key("nice").number(found.nice);
    if (!found.autogroup.empty()) text.key("autogroup").word(found.autogroup);
    CpuGroups const& groups = found.groups;
    if (!groups.own.empty()) text.key("group").word(groups.own);
    if (groups.shares) text.key("shares").number(*groups.shares);
    if (groups.weight) text.key("weight").number(*groups.weight);
    if (auto const* quota = groups.smallest()) {
        text.key("quota_cores").number(quota->cores);
        text.key("quota_group").word(quota->group);
    }
    if (!groups.cpuset.empty()) text.key("cpuset").word(groups.cpuset);
    text.close('}');
}

// The actual resources of this rank, as JSON text.
std::string given_text(Context const& context, Outcome const& outcome) {
    JsonText text;
    text.open('{');
    text.key("host").word(processor_name());
    std::vector<std::int64_t> cpus;
    for (auto const& lane : outcome.measured.lanes) cpus.push_back(lane.cpu);
    text.key("cpus").list(cpus);
    std::vector<std::vector<int>> masks(static_cast<std::size_t>(context.threads));
    context.on_each_thread([&](int t) { masks[static_cast<std::size_t>(t)] = allowed_cpus(); });
    text.key("thread_masks").open('[');
    for (auto const& mask : masks) text.list(std::vector<std::int64_t>(mask.begin(), mask.end()));
    text.close(']');
    text.key("buffers").open('[');
    for (auto const& pages : outcome.pages) {
        text.open('{');
        text.key("bytes").number(pages.bytes);
        text.key("resident_bytes").number(pages.resident_bytes);
        text.key("huge_bytes").number(pages.huge_bytes);
        text.key("page_bytes").number(pages.page_bytes);
        text.key("pages_on_node").open('{');
        for (auto const& [node, count] : pages.pages_on_node) text.key(std::to_string(node)).number(count);
        text.close('}');
        text.close('}');
    }
    text.close(']');
    write_scheduling(text, scheduling());
    text.close('}');
    return text.text();
}

// Lost time of this rank's lanes; "" if it has none.
std::string lost_text(Measurement const& measured, int rank) {
    std::vector<std::int64_t> wall, cpu, wait;
    for (auto const& lane : measured.lanes) {
        wall.push_back(lane.taken.wall);
        if (lane.taken.cpu >= 0) cpu.push_back(lane.taken.cpu);
        if (lane.taken.wait >= 0) wait.push_back(lane.taken.wait);
    }
    if (wall.empty()) return "";
    JsonText text;
    text.open('{');
    text.key("rank").number(rank);
    text.key("wall_ns").list(wall);
    if (cpu.size() == wall.size()) text.key("cpu_ns").list(cpu);
    if (wait.size() == wall.size()) text.key("wait_ns").list(wait);
    auto const& [group, ns] = measured.throttled;
    if (!group.empty()) {
        text.key("throttled_ns").number(ns);
        text.key("throttled_group").word(group);
    }
    text.key("elapsed_ns").number(measured.elapsed_ns);
    if (measured.stolen_ns >= 0) text.key("stolen_ns").number(measured.stolen_ns);
    text.close('}');
    return text.text();
}

void write_values(JsonText& text, char const* name, std::map<std::string, double> const& values) {
    text.key(name).open('{');
    for (auto const& [key, value] : values) text.key(key).number(value);
    text.close('}');
}

// Returns, at rank 0, the first text that is not empty.
std::string first_of(std::vector<std::string> const& texts) {
    auto const found = std::ranges::find_if(texts, [](auto const& text) { return !text.empty(); });
    return found == texts.end() ? "" : *found;
}

// A group's results: of checks the greatest over its ranks (one that is not finite stays), else its first rank's.
std::string results_text(Comm const& group, int number, Outcome const& outcome, bool& right) {
    JsonText text;
    auto const add = [&](Result const& result) {
        text.open('{');
        text.key("name").word(result.name);
        text.key("value").number(result.value);
        text.key("unit").word(result.unit);
        if (result.bound) text.key("bound").number(*result.bound);
        text.key("group").number(number);
        if (!result.where.empty()) text.key("where").word(result.where);
        text.close('}');
    };
    for (auto const& result : outcome.results) add(result);
    for (Result check : outcome.checks) {
        double const mine = std::isfinite(check.value) ? check.value : std::numeric_limits<double>::infinity();
        check.value = group.max(mine);
        if (check.right())
            check.where.clear();
        else  // of the first rank with the greatest value
            check.where = first_of(group.gather(mine == check.value ? check.where : ""));
        right = right && check.right();
        add(check);
    }
    return group.rank() == 0 ? text.text() : "";
}

// Sample ranges of a group; with the group's number behind them where it is not 0.
std::string marks_off_text(Measurement const& measured, int group) {
    JsonText text;
    for (auto const& [from, to] : measured.marks_off)
        text.list(group == 0 ? std::vector<std::int64_t>{from, to} : std::vector<std::int64_t>{from, to, group});
    return text.text();
}

constexpr std::size_t max_name = 64;  // with quotes and brackets

// `name` with the parts of all ranks between the brackets.
void join(JsonText& text, Comm const& world, char const* name, char const* brackets, std::string mine) {
    if (!mine.empty()) mine += ',';
    std::string const parts = world.gather_joined(mine);
    text.reserve(parts.size() + max_name);
    text.key(name).open(brackets[0]);
    text.raw(std::string_view(parts).substr(0, parts.empty() ? 0 : parts.size() - 1));
    text.close(brackets[1]);
}

class Writer {  // of the lists that grow with ranks and samples; `place` -1: this rank is idle
  public:
    Writer(PointFacts const& facts, RankPart const& part)
        : facts_(facts), world_(facts.context.world), part_(part), works_(part.group >= 0) {}

    void write(JsonText& text) const {
        std::int64_t const room =
            facts_.limits.record - world_.broadcast(static_cast<std::int64_t>(text.text().size()));
        std::string mine = works_ ? series_text(part_) : "";
        std::int64_t const all = world_.sum(static_cast<std::int64_t>(mine.size()));
        if (all > room) {
            text.key("form").word("reduced");
            join(text, world_, "reduced", "[]", reduced_within(room / 2));
            mine = facts_.info.pace == Pace::chunks ? coalesced_within(room / 2, all, text) : readings();
        }
        join(text, world_, "series", "[]", std::move(mine));
    }

  private:
    [[nodiscard]] std::string reduced_within(std::int64_t most) const {
        auto const lists = static_cast<std::int64_t>((part_.marks.paths().size() + 1) * facts_.groups.members.size());
        std::string text;
        for (Detail const detail : {Detail::lists, Detail::sketches, Detail::sums}) {
            text = works_ ? reduced_text(facts_.context.group, part_, facts_.limits.lists / lists, detail) : "";
            if (world_.sum(static_cast<std::int64_t>(text.size())) <= most) break;
        }
        return text;
    }

    // Of chunks: neighbours added up, by the least power of two that fits.
    [[nodiscard]] std::string coalesced_within(std::int64_t most, std::int64_t all, JsonText& text) const {
        std::int64_t samples = 0;
        for (auto const& lane : part_.measured.lanes)
            samples = std::max(samples, static_cast<std::int64_t>(lane.begin_ns.size()));
        samples = world_.max(samples);
        std::int64_t k = 2;
        while (k <= samples && all / k > 2 * most) k *= 2;  // sums have more digits: these are too many in any case
        for (; k <= samples; k *= 2) {
            std::string const mine = works_ ? series_text(part_, k) : "";
            if (world_.sum(static_cast<std::int64_t>(mine.size())) > most) continue;
            text.key("coalesced").number(k);
            return mine;
        }
        return "";
    }

    [[nodiscard]] std::string readings() const {
        if (!works_ || facts_.context.group.rank() != 0) return "";
        std::size_t const lists = std::max<std::size_t>(1, part_.readings.values.size()) * facts_.groups.members.size();
        return readings_text(part_, std::max<std::size_t>(1, max_readings / lists));
    }

    PointFacts const& facts_;
    Comm const& world_;
    RankPart const& part_;
    bool works_;
};

void write_shape(JsonText& text, PointFacts const& facts) {
    text.key("shape").open('{');
    text.key("ranks").number(facts.context.world.size());
    text.key("threads").number(facts.context.threads);
    text.key("groups").open('[');
    for (auto const& group : facts.groups.members) text.list(std::vector<std::int64_t>(group.begin(), group.end()));
    text.close(']');
    text.close('}');
}

void write_conditions(JsonText& text, PointFacts const& facts) {
    Settings const& settings = facts.outcome.settings;
    Measurement const& measured = facts.outcome.measured;
    text.key("sync").open('{');
    text.key("method").word(name_of(settings.sync));
    text.key("shared_clock").boolean(settings.shared_clock);
    text.key("exit_skew_ns").list(measured.exit_skew_ns);
    text.close('}');
    text.key("share_cores").boolean(settings.share_cores);
    write_values(text, "spent", facts.outcome.spent_s);
    text.key("noise").open('{');
    write_values(text, "before", measured.noise.before);
    write_values(text, "during", measured.noise.during);
    write_values(text, "after", measured.noise.after);
    text.close('}');
}

// Rank 0 may be idle: the notes are those of the first rank of group 0, after what the harness noted.
std::string notes_text(PointFacts const& facts, int group) {
    if (group != 0 || facts.context.group.rank() != 0) return "";
    JsonText text;
    for (auto const& [name, note] : facts.context.notes) text.key(name).word(note);
    auto const idle = facts.groups.idle(facts.context.world.size());
    std::string ranks;
    for (int const rank : idle) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
    if (!idle.empty()) text.key("idle_ranks").word(ranks);
    return text.text();
}

}  // namespace

bool write_point(JsonText& text, PointFacts const& facts) {
    Comm const& world = facts.context.world;
    Outcome const& outcome = facts.outcome;
    Measurement const& measured = outcome.measured;
    int const group = facts.groups.of(world.rank());
    RankPart const part{facts.info, measured, facts.context.marks, facts.context.readings, world.rank(), group};
    bool right = true;
    std::string const results = group < 0 ? "" : results_text(facts.context.group, group, outcome, right);
    std::string const work = group < 0 ? "" : work_text(facts.context.group, part, outcome.work);
    bool const first = group >= 0 && facts.context.group.rank() == 0;
    write_knobs(text, facts.context.knobs);
    write_shape(text, facts);
    text.key("pace").word(name_of(facts.info.pace));
    if (facts.info.blocks) text.key("blocks").boolean(true);
    text.key("warmup").number(measured.warmup);
    text.key("stopped_by").word(measured.stopped_by);
    join(text, world, "work", "[]", work);
    if (world.max(std::int64_t{measured.marks_off.empty() ? 0 : 1}) > 0) {
        text.key("marks").open('{');
        text.key("share").number(measured.marks_share);
        join(text, world, "off", "[]", first ? marks_off_text(measured, group) : "");
        text.close('}');
    }
    join(text, world, "results", "[]", results);
    write_conditions(text, facts);
    join(text, world, "notes", "{}", notes_text(facts, group));
    join(text, world, "given", "[]", given_text(facts.context, outcome));
    join(text, world, "lost", "[]", lost_text(measured, world.rank()));
    Writer(facts, part).write(text);
    return world.max(std::int64_t{right ? 0 : 1}) == 0;
}

void write_knobs(JsonText& text, Knobs const& knobs) {
    text.key("knobs").open('{');
    for (auto const& [name, value] : knobs.values()) text.key(name).word(value);
    text.close('}');
}

std::string processor_name() {
    std::array<char, MPI_MAX_PROCESSOR_NAME> text{};
    int length = 0;
    check(MPI_Get_processor_name(text.data(), &length));
    return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace octant
