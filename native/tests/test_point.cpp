// Kernels that use everything there is, measured as a program measures them, by one rank and by two.
#include "octant/noise.hpp"
#include "octant/point.hpp"

#include "check.hpp"
#include "json.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

namespace {

using octant::Context;
using octant::Counts;
using octant::Exit;
using octant::Json;
using octant::KernelInfo;
using octant::Pace;
using octant::Results;

void pass(std::int64_t ns) { octant::spin_until(octant::now_ns() + ns); }

std::string records;          // the file that is written
bool barriers_sleep = false;  // as those of a library that gives up the CPU while it waits

class Solver {  // prepared steps with phases, a reading, two roles, a result and two checks
  public:
    enum Phase : std::size_t { solve, part };
    static KernelInfo info() {
        return {.knobs = {{"pause", octant::KnobKind::seconds, "0", "of the first rank of the world, in each step"}},
                .pace = Pace::steps,
                .sync = octant::Sync::dissemination,
                .phases = {"solve", "solve/part"},
                .roles = {{.name = "worker"}, {.name = "helper", .timed = false, .waits = octant::Waits::polls}},
                .readings = {{"residual", "1"}}};
    }
    explicit Solver(Context& context) : context_(context) { context.notes = {{"kind", "solver"}}; }
    void set_up() { wrong_ += context_.group.sum(std::int64_t{1}) == context_.group.size() ? -1 : 1; }
    void prepare() {
        ++prepared_;
        context_.record(0, -1);  // not inside a step
        if (context_.seconds_of([] { pass(300'000); }) < 300e-6) ++wrong_;
    }
    void step() {
        ++steps_;
        if (role(0) == 0) {
            auto const mark = context_.phase(solve);
            auto const inner = context_.phase(part);
            pass(20'000);
        }
        context_.synchronise();
        if (context_.world.rank() == 0) pass(static_cast<std::int64_t>(context_.knobs.real("pause") * 1e9));
        context_.record(0, 1.0 / static_cast<double>(steps_));
    }
    [[nodiscard]] std::size_t role(int) const { return context_.group.rank() == 0 ? 0 : 1; }
    [[nodiscard]] Counts work(std::size_t role) const { return {{role == 0 ? "solved" : "helped", 3}}; }
    [[nodiscard]] Results results() const { return {{"steps", static_cast<double>(steps_), "1"}}; }
    Results verify() {
        return {
            {"steps without preparation", std::abs(static_cast<double>(steps_ - prepared_)) + wrong_, "1", 0, "here"},
            {"spoilt", context_.world.rank() == 0 ? spoilt_ : 0, "1", 0.5}};
    }
    void corrupt(std::size_t check) { (check == 0 ? wrong_ : spoilt_) = 1; }

  private:
    Context& context_;
    std::int64_t prepared_ = 0, steps_ = 0;
    double wrong_ = 1, spoilt_ = 0;  // until it is set up
};

class Run {  // long repetitions that tell how far they are, keep a file and count as much as their rank
  public:
    static KernelInfo info() { return {.pace = Pace::whole, .phases = {"all"}}; }
    explicit Run(Context& context) : context_(context) {}
    void step() {
        auto const mark = context_.phase(0);
        ++runs_;
        pass(1'000'000);
        context_.progress(0.5);
        std::ofstream(context_.scratch() + "/" + std::to_string(context_.world.rank())) << "data";
        if (context_.world.rank() > 0) return;
        Json const progress = Json::parse_file(records + ".progress");
        if (progress["share"] != 0.5 || progress["phase"] != "all" || progress["launch"] != "launch-1") ++wrong_;
    }
    [[nodiscard]] Counts work(std::size_t) const { return {{"bytes_sent", 10 * (context_.world.rank() + 1)}}; }
    Results verify() {
        ++verified_;
        std::array const state{runs_, std::int64_t{context_.world.rank()}};
        context_.keep("state.bin", "state", std::span<std::int64_t const>(state));
        return {{"repetitions that are not verified", static_cast<double>(runs_ - verified_) + wrong_, "1", 0}};
    }
    void corrupt(std::size_t) { wrong_ = 1; }

  private:
    Context& context_;
    std::int64_t runs_ = 0, verified_ = 0;
    double wrong_ = 0;
};

class Hasty {  // steps so short that marks take a good part of them
  public:
    static KernelInfo info() { return {.pace = Pace::steps, .sync = octant::Sync::none, .phases = {"all"}}; }
    explicit Hasty(Context& context) : context_(context) {}
    void step() {
        auto const mark = context_.phase(0);
        pass(300);
    }
    static Counts work(std::size_t) { return {}; }
    static Results verify() { return {{"nothing", 0, "1", 0}}; }
    void corrupt(std::size_t) {}

  private:
    Context& context_;
};

class Handover {  // one thread calls, another answers for as long as it is called
  public:
    static KernelInfo info() { return {.roles = {{.name = "caller"}, {.name = "answerer", .timed = false}}}; }
    explicit Handover(Context&) {}
    void chunk(int lane, std::int64_t) {
        if (lane == 1) {
            answered_ = asked_.load();
            std::this_thread::yield();
            return;
        }
        for (++asked_; answered_ != asked_;) std::this_thread::yield();
    }
    static std::size_t role(int lane) { return lane == 0 ? 0 : 1; }
    static Counts work(std::size_t role) { return role == 0 ? Counts{{"handovers", 1}} : Counts{}; }
    [[nodiscard]] Results verify() const { return {{"lost", answered_ == asked_ ? 0.0 : 1.0, "1", 0}}; }
    void corrupt(std::size_t) { ++asked_; }

  private:
    std::atomic<std::int64_t> asked_ = 0, answered_ = 0;
};

class Load {  // two timed roles whose chunks differ in length
  public:
    static KernelInfo info() { return {.roles = {{.name = "chase"}, {.name = "load"}}}; }
    explicit Load(Context&) {}
    static void chunk(int lane, std::int64_t) { pass(lane == 0 ? 40'000 : 500); }
    static std::size_t role(int lane) { return lane == 0 ? 0 : 1; }
    static Counts work(std::size_t role) { return {{role == 0 ? "loads" : "bytes_read", 8}}; }
    static Results verify() { return {{"nothing", 0, "1", 0}}; }
    void corrupt(std::size_t) {}
};

// Yields to another thread on the same hardware thread, which counts as an involuntary switch.
void yield_thread() {
    auto const before = octant::involuntary_switches();
    auto const allowed = octant::allowed_cpus();
    if (!octant::allow_cpus({octant::current_cpu()})) return;
    std::atomic<bool> done = false;
    std::thread other([&] {
        while (!done) std::this_thread::yield();
    });
    while (octant::involuntary_switches() == before) std::this_thread::yield();
    done = true;
    other.join();
    octant::expects(octant::allow_cpus(allowed));
}

class Disturbed {  // switched out in its preparation on the first rank, and in every fourth step on the others
  public:
    static KernelInfo info() {
        return {.pace = Pace::steps,
                .sync = octant::Sync::dissemination,
                .roles = {{.name = "worker"}, {.name = "helper", .timed = false}}};
    }
    explicit Disturbed(Context& context) : context_(context) {}
    void prepare() {
        if (role(0) == 0) yield_thread();
        pass(100'000);
    }
    void step() {
        if (++steps_ % 4 == 0 && role(0) == 1) yield_thread();
        pass(20'000);
    }
    [[nodiscard]] std::size_t role(int) const { return context_.group.rank() == 0 ? 0 : 1; }
    static Counts work(std::size_t) { return {}; }
    static Results verify() { return {{"nothing", 0, "1", 0}}; }
    void corrupt(std::size_t) {}

  private:
    Context& context_;
    std::int64_t steps_ = 0;
};

class Behind : public Load {  // the thread that is measured is not the first
  public:
    static KernelInfo info() { return {.roles = {{.name = "chase"}, {.name = "load", .timed = false}}}; }
    using Load::Load;
    static std::size_t role(int lane) { return lane == 0 ? 1 : 0; }
};

Json point(octant::Session const& session, octant::Program const& program, std::vector<std::string> words,
           Exit& outcome) {
    for (std::string const word : {"precision=0", "pin=none"}) words.push_back(word);
    octant::Knobs const knobs = octant::points(program.knobs(), words).at(0);
    octant::Recorder recorder(session, "test/kernel", records, "launch-1");
    {
        octant::Progress progress(session.world().rank() == 0 ? records + ".progress" : "", "launch-1");
        outcome = octant::measure_point(session, program.of(knobs), knobs, recorder, progress, 1);
    }
    session.world().barrier();
    std::ifstream file(records);
    std::string line, last;
    while (std::getline(file, line)) last = line;
    session.world().barrier();
    return Json::parse(last);
}

template <class K>
Json point(octant::Session const& session, std::vector<std::string> const& words, Exit& outcome) {
    return point(session, {"", {octant::row<K>("")}}, words, outcome);
}

template <class K>
Json point(octant::Checks& checks, octant::Session const& session, std::vector<std::string> const& words) {
    Exit outcome{};
    Json read = point<K>(session, words, outcome);
    checks.that(outcome == Exit::ok, "right");
    return read;
}

Json series(Json const& point, std::string const& name, int rank) {
    for (Json const& one : point["series"])
        if (one["name"] == name && one["rank"] == rank) return one;
    return {};
}

void phases_and_readings(octant::Checks& checks, octant::Session const& session) {
    Json const read = point<Solver>(checks, session, {"seconds=5", "samples=60"});
    Json const step = series(read, "step", 0), solve = series(read, "phase/solve", 0),
               part = series(read, "phase/solve/part", 0), residual = series(read, "reading/residual", 0);
    checks.that(read["stopped_by"] == "samples" && step["ns"].size() == 60, "all samples");
    checks.that(step["role"] == "worker" && read["work"][0]["batch"] == 1, "what is prepared is never batched");
    checks.that(step["gap_ns"].is_list() && step["gap_ns"][0] >= 300'000, "preparation lies in the gaps");
    checks.that(solve["entries"] == 1 && solve["ns"].size() == 60, "a phase of each step");
    checks.that(part["ns"][7] >= 20'000 && solve["ns"][7] >= part["ns"][7] && step["ns"][7] >= solve["ns"][7],
                "nested");
    checks.that(residual["values"].size() == 60 && residual["unit"] == "1", "a reading of each step");
    checks.that(residual["values"][0] > residual["values"][1] && residual["values"][59] > 0, "of timed ones, in order");
    checks.that(read["results"][0]["name"] == "steps" && !read["results"][0].contains("bound"), "a result");
    checks.that(read["results"].size() == 3 && read["results"][2]["bound"] == 0.5, "and two checks");
    checks.that(read["notes"]["kind"] == "solver", "notes");
    checks.that(
        read["spent"]["measure_s"] >= 60 * 300e-6 && read["spent"]["build_s"] >= 0 && read["spent"]["check_s"] >= 0,
        "where the time went");
    bool const two = session.world().size() == 2;
    checks.that(series(read, "step", 1).is_null() && read["work"].size() == (two ? 2 : 1), "a helper has no times");
    if (two) checks.that(read["work"][1]["role"] == "helper" && read["work"][1]["counts"]["helped"] == 3, "but work");
}

void whole(octant::Checks& checks, octant::Session const& session) {
    Json const read = point<Run>(checks, session, {"seconds=20", "samples=2", "warmup=1"});
    checks.that(read["pace"] == "whole" && read["warmup"] == 1 && read["stopped_by"] == "samples", "as requested");
    checks.that(series(read, "step", 0)["ns"].size() == 3 && read["work"][0]["batch"] == 1,
                "two samples in addition to the warm-up");
    checks.that(series(read, "phase/all", 0)["entries"] == 1 && !read.contains("marks"),
                "marks that cost little stay on");
    if (session.world().size() == 2) {
        checks.that(read["work"][0]["counts"]["bytes_sent"] == 30, "counts add up over the ranks");
        checks.that(read["work"][0]["by_rank"]["bytes_sent"] == std::vector<std::int64_t>{10, 20},
                    "counts that differ are stored by rank");
    }
    Json const one = point<Run>(checks, session, {"seconds=0.000001"});
    checks.that(one["stopped_by"] == "time" && series(one, "step", 0)["ns"].size() == 1, "at least one repetition");
    checks.that(!std::filesystem::exists(records + ".progress"), "the progress is gone at the end");
    session.world().barrier();
    auto const folder = std::filesystem::path(records).parent_path();
    for (auto const& entry : std::filesystem::directory_iterator(folder))
        checks.that(entry.path() == records || entry.path() == folder / "files",
                    "and so are the files: " + entry.path().string());
    checks.that(read["files"].size() == static_cast<std::size_t>(session.world().size()), "a file of each rank");
    for (Json const& file : read["files"]) {
        std::ifstream stored(folder / "files" / std::string(file["stored"].text()), std::ios::binary);
        std::array<std::int64_t, 2> state{};
        stored.read(reinterpret_cast<char*>(state.data()), sizeof state);
        checks.that(file["name"] == "state.bin" && file["bytes"] == sizeof state && state[0] == 3, "the last state");
        checks.that(file["rank"] == state[1], "of the rank that the record names");
    }
}

struct Repeated : Solver {
    using Solver::Solver;
    static KernelInfo info() {
        KernelInfo info = Solver::info();
        info.pace = octant::Pace::whole;
        return info;
    }
};

void rows(octant::Checks& checks, octant::Session const& session) {
    octant::Program const program{"kind", {octant::row<Solver>("solver"), octant::row<Repeated>("run")}};
    Exit outcome{};
    Json const first = point(session, program, {"samples=5"}, outcome);
    checks.that(first["pace"] == "steps" && first["knobs"]["kind"] == "solver", "the first row is the default");
    Json const second = point(session, program, {"kind=run", "samples=2", "warmup=1"}, outcome);
    checks.that(second["pace"] == "whole" && second["warmup"] == 1, "each row has a pace of its own");
    Json const described = Json::parse(octant::describe("test/kernel", program));
    checks.that(described["chooser"] == "kind" && described["rows"]["run"]["pace"] == "whole", "both are described");
    checks.that(described["knobs"][0]["choices"] == Json::parse(R"(["solver","run"])"), "and offered");
}

struct Choosy : Solver {  // its constructor relies on what it takes
    static KernelInfo info() {
        KernelInfo info = Solver::info();
        info.takes = [](int ranks, int threads, octant::Knobs const& knobs) -> std::optional<octant::Refusal> {
            if (knobs.real("pause") > 1) return octant::Refusal("cannot pause so long; try 1s", Exit::wrong_word);
            if (ranks * threads == 1) return {};
            return octant::Refusal("cannot use " + std::to_string(ranks * threads) + " threads", Exit::not_supported);
        };
        return info;
    }
    explicit Choosy(Context& context) : Solver(context) {
        octant::expects(context.group.size() * context.threads == 1 && context.knobs.real("pause") <= 1);
    }
};

void shapes(octant::Checks& checks, octant::Session const& session) {
    octant::Program const program{"", {octant::row<Choosy>("")}};
    auto const why = [&](std::vector<std::string> const& words, int ranks) {
        auto const refusal =
            octant::shape_refusal(program.rows[0].info, octant::points(program.knobs(), words).at(0), ranks);
        return refusal ? std::string(refusal->what()) : "";
    };
    checks.that(why({}, 1).empty() && why({"groups=1"}, 8).empty(), "groups of one rank");
    checks.that(why({}, 3) == "cannot use 3 threads" && why({"threads=2"}, 1) == "cannot use 2 threads", "others");
    checks.that(why({"groups=0/1+2"}, 3) == "cannot use 2 threads", "each group is looked at");
    checks.that(why({"pause=2"}, 1) == "cannot pause so long; try 1s", "knobs");
    checks.that(Json::parse(octant::describe("test/kernel", program))["takes"] == Json::parse("true"),
                "and says that it may refuse");
    Exit outcome{};
    checks.refused([&] { point(session, program, {"groups=1", "threads=2"}, outcome); }, "cannot use 2 threads");
    point(session, program, {"groups=1", "samples=5", "seconds=0.05"}, outcome);
    checks.that(outcome == Exit::ok, "the next point is measured");
}

void costly_marks(octant::Checks& checks, octant::Session const& session) {
    Json const read = point<Hasty>(checks, session, {"seconds=0.001", "samples=400"});
    checks.that(read["marks"]["share"] > 0.01, "marks are too much of a step");
    std::size_t off = 0;
    for (auto const& range : read["marks"]["off"]) off += static_cast<std::size_t>(range[1].whole() - range[0].whole());
    std::size_t const all = series(read, "step", 0)["ns"].size(), on = series(read, "phase/all", 0)["ns"].size();
    checks.that(off > 0 && on > 0 && on + off == all, "some steps without marks, phases of the others");
    checks.that(series(read, "phase/all", 0)["entries"] == read["work"][0]["batch"], "entries of a batch");
}

void lane_roles(octant::Checks& checks, octant::Session const& session) {
    Json const handover = point<Handover>(checks, session, {"threads=2", "seconds=0.05", "samples=100"});
    checks.that(handover["work"].size() == 1 && handover["work"][0]["role"] == "caller", "the caller's work");
    checks.that(handover["work"][0]["lanes"] == session.world().size(), "one lane of each rank");
    for (auto const& one : handover["series"]) checks.that(one["role"] == "caller", "times of the caller alone");
    Json const load = point<Load>(checks, session, {"threads=2", "seconds=0.05", "samples=100"});
    checks.that(load["work"].size() == 2 && load["work"][0]["batch"] < load["work"][1]["batch"],
                "batches of their own");
    checks.that(load["work"][1]["counts"].contains("bytes_read"), "and counts");
    Json const behind = point<Behind>(checks, session, {"threads=2", "seconds=20", "samples=10"});
    checks.that(behind["stopped_by"] == "samples", "the lanes that are measured are counted");
}

void bursts(octant::Checks& checks, octant::Session const& session) {
    Json const load = point<Load>(checks, session, {"threads=2", "seconds=0.2", "samples=100000"});
    for (auto const& one : load["series"]) {
        Json const begun = one["bursts"];
        checks.that(begun[0][0] == 0 && begun.size() == one["clock_hz"].size(), "the first sample of each burst");
        for (std::size_t i = 1; i < begun.size(); ++i)
            checks.that(begun[i][0] > begun[i - 1][0] && begun[i][0] < static_cast<double>(one["ns"].size()),
                        "in their order");
        std::int64_t wall_ns = 0, in_samples_ns = 0;
        for (auto const& burst : begun) wall_ns += burst[1].whole();
        for (auto const& ns : one["ns"]) in_samples_ns += ns.whole();
        checks.that(wall_ns >= in_samples_ns, "and its length, which contains its samples");
    }
}

void waiting(octant::Checks& checks, octant::Session const& session) {
    if (session.world().size() == 1) {
        checks.that(!octant::waits_use_cpu(session.world()), "one rank never waits");
        return;
    }
    checks.that(octant::waits_use_cpu(session.world()), "this library polls");
    barriers_sleep = true;
    checks.that(!octant::waits_use_cpu(session.world()), "a barrier that sleeps is recognised");
    barriers_sleep = false;
    Json const polled = point<Solver>(checks, session, {"seconds=0.05"});
    for (auto const& lost : polled["lost"])
        checks.that(lost["cpu_ns"][0] <= lost["wall_ns"][0], "the CPU time of a rank of one thread");
    Json const threads = point<Solver>(checks, session, {"seconds=0.05", "threads=2"});
    for (auto const& lost : threads["lost"]) checks.that(!lost.contains("cpu_ns"), "but not of several threads");
}

void faults(octant::Checks& checks, octant::Session const& session) {
    if constexpr (!octant::faults_compiled) return;
    for (std::size_t check : {0U, 1U}) {
        setenv("OCTANT_FAULT", ("wrong:" + std::to_string(check)).c_str(), 1);
        Exit outcome{};
        Json const read = point<Solver>(session, {"seconds=0.01", "samples=5"}, outcome);
        unsetenv("OCTANT_FAULT");
        checks.that(outcome == Exit::wrong_answer, "each check is seen to fail");
        checks.that(read["results"][1 + check].contains("where") == (check == 0), "and says where, if it can");
        for (std::size_t i : {0U, 1U})
            checks.that((read["results"][1 + i]["value"] > read["results"][1 + i]["bound"]) == (i == check), "alone");
    }
}

void switches(octant::Checks& checks, octant::Session const& session) {
    bool const two = session.world().size() == 2;
    Json const read = point<Disturbed>(checks, session, {"seconds=20", "samples=40", two ? "groups=1" : "groups=all"});
    for (auto const& one : read["series"])
        checks.that(one["preempted"].size() < 20, "switches of the preparation are not the step's");
    if (!two) return;
    Json const helped = point<Disturbed>(checks, session, {"seconds=20", "samples=40"});
    checks.that(series(helped, "step", 0)["preempted"].size() >= 8, "but those of ranks without times are");
}

// What fails in one thread arrives as it was thrown: a refusal with its code, another exception with its type.
void failing_threads(octant::Checks& checks, octant::Session const& session) {
    octant::Knobs const knobs(octant::harness_knobs({}, false));
    Context const context{.world = session.world(),
                          .group = session.world(),
                          .knobs = knobs,
                          .threads = 2,
                          .pages = octant::PagePolicy::parse("base"),
                          .nodes = octant::NodePolicy::parse("default")};
    auto const thrown = [&](auto const& body) {
        try {
            context.on_each_thread([&](int thread) {
                if (thread == 1) body();
            });
        } catch (octant::Refusal const& refusal) {
            return refusal.what() + std::string(refusal.code() == Exit::not_supported ? ", not supported" : "");
        } catch (std::exception const& error) {
            return octant::reason_of(error);
        }
        return std::string("nothing");
    };
    checks.that(
        thrown([] { throw octant::Refusal("no such pages", Exit::not_supported); }) == "no such pages, not supported",
        "the code of a refusal");
    checks.that(thrown([] { throw octant::Refusal("no file"); }) == "no file", "of another one");
    checks.that(thrown([] { throw std::bad_alloc(); }).find("out of memory") != std::string::npos,
                "a type that has a meaning");
    checks.that(thrown([] {}) == "nothing", "or nothing");
}

void groups_of_two_ranks(octant::Checks& checks, octant::Session const& session) {
    Json const star = point<Solver>(checks, session, {"groups=1", "seconds=0.3", "samples=4000", "pause=10ms"});
    checks.that(star["shape"]["groups"] == Json::parse("[[0],[1]]") && star["work"].size() == 2,
                "each rank for itself");
    Json const slow = series(star, "step", 0), quick = series(star, "step", 1);
    checks.that(slow["group"] == 0 && quick["group"] == 1, "the group of each series");
    checks.that(slow["ns"].size() < quick["ns"].size(), "bursts end by time, whatever the others' steps take");
    checks.that(star["results"].size() == 6 && star["results"][5]["group"] == 1, "results of each group");
    Json const turned = point<Solver>(checks, session, {"groups=1+0", "seconds=0.01"});
    checks.that(turned["shape"]["groups"] == Json::parse("[[1,0]]"), "in the order that was written");
    checks.that(!series(turned, "step", 1).is_null() && series(turned, "step", 0).is_null(), "so rank 1 is the worker");
    Json const first = point<Solver>(checks, session, {"groups=first:1", "seconds=0.01"});
    checks.that(first["notes"]["idle_ranks"] == "1" && series(first, "step", 1).is_null(), "the other waits");
    Json const last = point<Run>(checks, session, {"groups=1+0", "seconds=0.000001"});
    checks.that(last["work"][0]["by_rank"]["bytes_sent"] == std::vector<std::int64_t>{20, 10},
                "counts in the group's order");
}

}  // namespace

extern "C" int MPI_Barrier(MPI_Comm comm) {
    if (!barriers_sleep) return PMPI_Barrier(comm);
    MPI_Request request = MPI_REQUEST_NULL;
    int failed = PMPI_Ibarrier(comm, &request);
    for (int done = 0; failed == MPI_SUCCESS && done == 0;) {
        usleep(200);
        failed = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    return failed;
}

int main(int argc, char** argv) {
    octant::Session const session(&argc, &argv);
    octant::Checks checks;
    char folder[] = "/tmp/octant-point-XXXXXX";
    bool const first = session.world().rank() == 0;
    if (first) checks.that(mkdtemp(folder) != nullptr, "a folder");
    octant::check(MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, session.world().get()));
    records = std::string(folder) + "/records.jsonl";
    phases_and_readings(checks, session);
    whole(checks, session);
    rows(checks, session);
    shapes(checks, session);
    costly_marks(checks, session);
    lane_roles(checks, session);
    bursts(checks, session);
    waiting(checks, session);
    faults(checks, session);
    switches(checks, session);
    failing_threads(checks, session);
    if (session.world().size() == 2) groups_of_two_ranks(checks, session);
    session.world().barrier();
    if (first) std::filesystem::remove_all(folder);
    return checks.result();
}
