#include "octant/record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace octant {
namespace {

using Json = nlohmann::ordered_json;
constexpr int schema = 1;

char const* name_of(Sync sync) {
    static constexpr char const* names[] = {"none", "barrier", "dissemination", "clock"};
    return names[static_cast<int>(sync)];
}

char const* name_of(KnobKind kind) {
    static constexpr char const* names[] = {"integer", "bytes", "seconds", "real", "word"};
    return names[static_cast<int>(kind)];
}

Json json_of(Work const& work) {
    return {{"bytes_read", work.bytes_read},
            {"bytes_written", work.bytes_written},
            {"bytes_allocated", work.bytes_allocated},
            {"flops", work.flops},
            {"loads", work.loads},
            {"messages", work.messages},
            {"message_bytes", work.message_bytes},
            {"quanta", work.quanta}};
}

Json json_of(Verdict const& verdict) {
    return {{"check", verdict.check},
            {"error", verdict.error},
            {"tolerance", verdict.tolerance},
            {"passed", verdict.passed()}};
}

Json json_of(PagesGiven const& pages) {
    Json nodes = Json::object();
    for (auto const& [node, count] : pages.pages_on_node) nodes[std::to_string(node)] = count;
    return {{"bytes", pages.bytes},
            {"resident_bytes", pages.resident_bytes},
            {"huge_bytes", pages.huge_bytes},
            {"page_bytes", pages.page_bytes},
            {"pages_on_node", nodes}};
}

Json build_facts() {
    return {
        {"compiler", "g++ " __VERSION__},
        {"mpi_version", std::to_string(MPI_VERSION) + "." + std::to_string(MPI_SUBVERSION)},
        {"faults_compiled", faults_compiled},
#ifdef __OPTIMIZE__
        {"optimised", true},
#else
        {"optimised", false},
#endif
    };
}

std::string processor_name() {
    std::array<char, MPI_MAX_PROCESSOR_NAME> text{};
    int length = 0;
    check(MPI_Get_processor_name(text.data(), &length));
    return {text.data(), static_cast<std::size_t>(length)};
}

// What this rank was really given, as JSON text.
std::string given_text(Context const& context, PointOutcome const& outcome) {
    Json pages = Json::array();
    for (auto const& buffer : outcome.pages) pages.push_back(json_of(buffer));
    Json cpus = Json::array();
    for (auto const& lane : outcome.measured.lanes) cpus.push_back(lane.cpu);
    Json masks = Json::array();
    std::vector<std::vector<int>> allowed(static_cast<std::size_t>(context.threads));
    context.on_each_thread([&](int t) { allowed[static_cast<std::size_t>(t)] = allowed_cpus(); });
    for (auto const& mask : allowed) masks.push_back(mask);
    return Json{{"host", processor_name()}, {"cpus", cpus}, {"thread_masks", masks}, {"buffers", pages}}.dump();
}

// Lanes of all ranks: integers travel as MPI messages, so a million samples never become text on the way.
Json gathered_lanes(Comm const& world, Measurement const& measured) {
    auto const& lanes = measured.lanes;
    Json all = Json::array();
    std::int64_t const most = world.max(static_cast<std::int64_t>(lanes.size()));
    for (std::size_t t = 0; t < static_cast<std::size_t>(most); ++t) {
        Lane const none;
        Lane const& lane = t < lanes.size() ? lanes[t] : none;
        std::vector<std::int64_t> begins = lane.begin_ns;
        for (auto& begin : begins) begin -= measured.origin_ns;
        auto const begin_ns = world.gather(begins);
        auto const duration_ns = world.gather(lane.duration_ns);
        auto const preempted = world.gather(lane.preempted);
        auto const clock_hz = world.gather(lane.clock_hz);
        for (std::size_t r = 0; r < begin_ns.size(); ++r)
            if (!begin_ns[r].empty())
                all.push_back({{"rank", r},
                               {"thread", t},
                               {"begin_ns", begin_ns[r]},
                               {"duration_ns", duration_ns[r]},
                               {"preempted", preempted[r]},
                               {"clock_hz", clock_hz[r]}});
    }
    return all;
}

Json steps_json(Comm const& world, KernelInfo const& info, Lane const& lane) {
    std::vector<double> const seconds(lane.duration_ns.begin(), lane.duration_ns.end());
    Json duration_ns = Json::array(), slowest = Json::array();
    auto const worst = world.slowest(seconds);
    for (std::size_t i = 0; i < worst.size(); ++i) {
        duration_ns.push_back(info.timing == Timing::root ? lane.duration_ns[i]
                                                          : static_cast<std::int64_t>(worst[i].first));
        slowest.push_back(worst[i].second);
    }
    auto const preempted = world.gather(lane.preempted);
    std::vector<std::int64_t> flagged;
    for (auto const& rank : preempted) flagged.insert(flagged.end(), rank.begin(), rank.end());
    std::ranges::sort(flagged);
    flagged.erase(std::unique(flagged.begin(), flagged.end()), flagged.end());
    return {{"duration_ns", duration_ns}, {"slowest_rank", slowest}, {"preempted", flagged}};
}

}  // namespace

Recorder::Recorder(Comm const& world, std::string path, std::string run_key)
    : world_(world), path_(std::move(path)), run_key_(std::move(run_key)), clock_(measure_clock()) {
    std::int64_t failed = 0;
    if (world_.rank() == 0 && path_ != "-") {
        int const file = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        failed = file < 0 ? errno : 0;
        if (file >= 0) close(file);
    }
    failed = world_.broadcast(failed);
    if (failed != 0)
        throw Refusal("cannot write records to " + path_ + " (" + std::strerror(static_cast<int>(failed)) +
                      "); try --output with a path in a writable folder");
}

void Recorder::append(std::string const& line) const {
    int const file = path_ == "-" ? dup(STDOUT_FILENO) : open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    off_t const before = lseek(file, 0, SEEK_END);
    std::string const text = line + "\n";
    std::size_t done = 0;
    while (file >= 0 && done < text.size()) {
        ssize_t const wrote = ::write(file, text.data() + done, text.size() - done);
        if (wrote < 0 && errno != EINTR) break;
        if (wrote > 0) done += static_cast<std::size_t>(wrote);
    }
    bool const kept = file >= 0 && done == text.size() && (path_ == "-" || fsync(file) == 0);
    int const reason = errno;
    // Half a line would take the next record with it. Nothing can be taken back from a pipe.
    bool const clean = kept || before < 0 || ftruncate(file, before) == 0;
    if (file >= 0) close(file);
    if (!kept)
        throw Refusal("cannot write a record to " + path_ + " (" + std::strerror(reason) + "); free some space" +
                      (clean ? "" : ", drop the torn last line") + " and run again");
}

void Recorder::write(KernelInfo const& info, Context const& context, Settings const& settings,
                     PointOutcome const& outcome) {
    Measurement const& measured = outcome.measured;
    auto const given = world_.gather(given_text(context, outcome));
    Json samples = outcome.step_kernel ? steps_json(world_, info, measured.lanes[0])
                                       : Json{{"lanes", gathered_lanes(world_, measured)}};
    if (world_.rank() != 0) return;
    Json record = {{"schema", schema}, {"kind", "point"}, {"workload", info.name}, {"run", run_key_}};
    record["knobs"] = context.knobs.values();
    record["ranks"] = world_.size();
    record["threads"] = context.threads;
    record["sampling"] = outcome.step_kernel ? "steps" : "lanes";
    record["batch"] = measured.batch;
    record["warmup"] = measured.warmup;
    record["stopped_by"] = measured.stopped_by;
    record["work"] = json_of(outcome.work);
    record["verdict"] = json_of(outcome.verdict);
    record["clock"] = {
        {"source", "CLOCK_MONOTONIC"}, {"cost_ns", clock_.cost_ns}, {"resolution_ns", clock_.resolution_ns}};
    record["sync"] = {{"method", name_of(settings.sync)},
                      {"shared_clock", settings.shared_clock},
                      {"exit_skew_ns", measured.exit_skew_ns}};
    record["share_cores"] = settings.share_cores;
    record["noise"] = {
        {"before", measured.noise.before}, {"during", measured.noise.during}, {"after", measured.noise.after}};
    Json notes = Json::object();
    for (auto const& [name, text] : context.notes) notes[name] = text;
    record["notes"] = notes;
    record["given"] = Json::array();
    for (auto const& text : given) record["given"].push_back(Json::parse(text));
    record["mpi"] = Session::library();
    record["build"] = build_facts();
    record["samples"] = std::move(samples);
    append(record.dump());
}

void Recorder::write_failure(KernelInfo const& info, Knobs const& knobs, std::string const& reason, Exit code) {
    Json record = {{"schema", schema}, {"kind", "failure"}, {"workload", info.name}, {"run", run_key_}};
    record["knobs"] = knobs.values();
    record["ranks"] = world_.size();
    record["reason"] = reason;
    record["exit"] = static_cast<int>(code);
    append(record.dump());
}

std::vector<Knob> harness_knobs(KernelInfo const& info) {
    bool const together = info.sync != Sync::none;
    return {
        {"threads", KnobKind::integer, "1", "threads of each rank", {}, 1, 4096},
        {"pin",
         KnobKind::word,
         "each",
         "each: every thread on a hardware thread of its own; none: leave it to the system",
         {"each", "none"}},
        {"pages", KnobKind::word, "default", "page size of the data: default, base, thp, 2MiB, 1GiB, …"},
        {"memory", KnobKind::word, "default",
         "NUMA policy of the data: default, local, interleave[:0+1], bind:0+1, prefer:0"},
        {"seconds", KnobKind::seconds, "1", "time budget of one point"},
        {"samples", KnobKind::integer, "5000", "most samples of a lane or step, all kept", {}, 5, 1'000'000},
        {"least", KnobKind::integer, "30", "fewest samples before the interval may stop a point", {}, 5, 1'000'000},
        {"precision", KnobKind::real, "0.01", "stop when the median's 95 % interval is within this fraction"},
        {"sync",
         KnobKind::word,
         together ? "clock" : "none",
         "how ranks start a step together",
         {"none", "barrier", "dissemination", "clock"}},
    };
}

std::string describe(KernelInfo const& info) {
    Json knobs = Json::array();
    auto const add = [&](std::vector<Knob> const& list, char const* owner) {
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
    };
    add(info.knobs, "kernel");
    add(harness_knobs(info), "harness");
    Json text = {
        {"schema", schema}, {"workload", info.name}, {"least_ranks", info.least_ranks}, {"sync", name_of(info.sync)}};
    text["timing"] = info.timing == Timing::root ? "root" : "slowest";
    text["knobs"] = knobs;
    text["build"] = build_facts();
    return text.dump(2);
}

}  // namespace octant
