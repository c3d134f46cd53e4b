// A record is one JSON line with every field that readers rely on, appended; an unwritable path is refused at once.
#include "octant/crc.hpp"
#include "octant/record.hpp"

#include "check.hpp"
#include "json.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>

namespace {

using octant::Json;

octant::Lane lane(int thread) {
    octant::Lane made;
    made.thread = thread;
    made.begin_ns = {1000, 1200, 1400};
    made.duration_ns = {100, 110, 120};
    made.preempted = {2};
    made.clock_hz = {3'000'000'000};
    return made;
}

void write_two(octant::Session const& session, std::string const& path) {
    octant::KernelInfo info{};
    octant::Knobs const knobs(octant::harness_knobs(info, info.pace == octant::Pace::whole));
    octant::Comm const& world = session.world();
    octant::Context context{.world = world,
                            .group = world,
                            .knobs = knobs,
                            .threads = 2,
                            .pages = octant::PagePolicy::parse("base"),
                            .nodes = octant::NodePolicy::parse("default")};
    context.notes = {{"width", "512"}};
    auto const groups = octant::Groups::parse("all", 1, 1);
    octant::Outcome outcome{.settings = {1, 100, 10, 0.01, octant::Sync::clock, true, false}, .measured = {}};
    outcome.measured.lanes = {lane(0), lane(1)};
    outcome.measured.batch = {4};
    outcome.measured.stopped_by = "samples";
    outcome.measured.origin_ns = 900;
    outcome.work = {{{"flops", 7}}};
    outcome.checks = {{"check", 0.5, "1", 1}};
    octant::Recorder recorder(session, "family/thing", path, "launch-1");
    recorder.write(info, context, groups, outcome);
    info.pace = octant::Pace::steps;
    outcome.measured.lanes.pop_back();
    outcome.checks[0].value = std::nan("");
    recorder.write(info, context, groups, outcome);
    recorder.write_failure(knobs, "cannot do \"that\"", octant::Exit::not_supported, R"({"share":0.5})");
}

// The next line of the file, whose check sum is right.
Json next_line(octant::Checks& checks, std::istream& file) {
    std::string line;
    checks.that(bool(std::getline(file, line)), "there is a line");
    Json const read = Json::parse(line);
    std::string const without = line.substr(0, line.rfind(",\"crc\""));
    checks.that(read["crc"] == octant::hex8(octant::crc32(without)), "the check sum of what is before it");
    checks.that(read["format"] == 2 && read["workload"] == "family/thing" && read["launch"] == "launch-1", "whose");
    return read;
}

void read_back(octant::Checks& checks, std::string const& path) {
    std::ifstream file(path);
    Json const launch = next_line(checks, file);
    checks.that(launch["kind"] == "launch" && launch["hosts"].size() == 1 && launch["init_s"] > 0, "the launch");
    checks.that(launch["clock"]["mark_ns"] >= launch["clock"]["empty_ns"], "a mark costs more than it reads");
    Json const lanes = next_line(checks, file);
    checks.that(lanes["kind"] == "point" && lanes["pace"] == "chunks", "what it is");
    checks.that(lanes["place"] == 0, "the first point of the launch");
    checks.that(lanes["series"].size() == 2 && lanes["series"][1]["thread"] == 1, "two lanes");
    checks.that(lanes["series"][0]["gap_ns"] == std::vector<std::int64_t>{100, 100, 90},
                "gaps, the first from the start");
    checks.that(lanes["series"][0]["ns"] == std::vector<std::int64_t>{100, 110, 120}, "every sample");
    checks.that(lanes["series"][0]["preempted"] == std::vector<std::int64_t>{2}, "flags");
    checks.that(lanes["work"][0]["counts"]["flops"] == 14 && lanes["work"][0]["lanes"] == 2, "counts of two lanes");
    checks.that(lanes["work"][0]["batch"] == 4 && lanes["results"][0]["bound"] == 1, "batch and check");
    checks.that(lanes["given"][0]["thread_masks"].size() == 2 && lanes["notes"]["width"] == "512", "what was given");
    Json const steps = next_line(checks, file);
    checks.that(steps["pace"] == "steps" && steps["series"].size() == 1 && steps["place"] == 1, "steps");
    checks.that(steps["results"][0]["value"].is_null(), "NaN is null");
    Json const failure = next_line(checks, file);
    checks.that(failure["kind"] == "failure" && failure["exit"] == 3 && failure["reason"] == "cannot do \"that\"",
                "why");
    checks.that(failure["progress"]["share"] == 0.5, "and how far it was");
    std::string line;
    checks.that(!std::getline(file, line), "four lines, no more");
}

// A disk that fills up in the middle of a record: what was whole stays, and the reason still fits.
void no_space(octant::Checks& checks, octant::Session const& session, std::string const& path) {
    octant::Knobs const knobs(octant::harness_knobs({}, false));
    octant::Recorder const recorder(session, "family/thing", path, "launch-1");
    recorder.write_failure(knobs, "the first", octant::Exit::not_supported);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit const little{8192, before.rlim_max};
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    checks.refused([&] { recorder.write_failure(knobs, std::string(20'000, 'x'), octant::Exit::cannot_run); },
                   "(File too large); raise the limit on the size of files (ulimit -f)");
    recorder.write_failure(knobs, "the last", octant::Exit::cannot_run);
    setrlimit(RLIMIT_FSIZE, &before);
    std::ifstream file(path);
    static_cast<void>(next_line(checks, file));
    for (std::string const reason : {"the first", "the last"}) {
        std::string line;
        std::getline(file, line);
        checks.that(Json::accepts(line) && Json::parse(line)["reason"] == reason, reason + " is a line of its own");
    }
}

// The reason is that of the call that failed, and the remedy is one for this reason.
void reasons(octant::Checks& checks, octant::Session const& session, std::string const& path) {
    octant::KernelInfo const info{};
    octant::Knobs const knobs(octant::harness_knobs(info, false));
    octant::Recorder const recorder(session, "family/thing", path, "launch-1");
    auto const write = [&] { recorder.write_failure(knobs, "lost", octant::Exit::cannot_run); };
    unlink(path.c_str());
    checks.refused(write, "(No such file or directory); leave the file and its folder in place and run again");
    checks.that(access(path.c_str(), F_OK) != 0, "no new file hides that the earlier records are lost");
    checks.that(symlink("/dev/full", path.c_str()) == 0, "a full device");
    checks.refused(write, "(No space left on device); free some space");
    unlink(path.c_str());
    checks.that(mkdir(path.c_str(), S_IRWXU) == 0, "a folder in its place");
    checks.refused(write, "(Is a directory); check the file system");
    rmdir(path.c_str());
}

// What a process that was killed in the middle of a line left does not take the next record with it.
void torn_line(octant::Checks& checks, octant::Session const& session, std::string const& path) {
    std::ofstream(path, std::ios::trunc) << R"({"format":2,"kind":"poi)";
    octant::Recorder const recorder(session, "family/thing", path, "launch-1");
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    checks.that(next_line(checks, file)["kind"] == "launch", "the record after a torn line is a line of its own");
}

// A launch that ends before it has a Recorder records the reason, once for all of its ranks.
void early_end(octant::Checks& checks, std::string const& path) {
    std::ofstream(path, std::ios::trunc) << R"({"format":2,"kind":"poi)";
    std::array<std::string, 2> const words{"bytes=1,2", "no knob"};
    for (int rank = 0; rank < 3; ++rank)
        octant::record_early_end(path, "family/thing", "launch-1", words, "cannot", octant::Exit::wrong_word);
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    Json const read = next_line(checks, file);
    checks.that(read["kind"] == "failure" && read["knobs"] == Json::parse(R"({"bytes":"1,2"})") && read["ranks"] == 0,
                "whose");
    checks.that(read["reason"] == "cannot" && read["exit"] == 2 && read["end"] == "wrong_word", "which end");
    checks.that(!std::getline(file, line), "the other ranks add nothing");
    octant::record_early_end(path + "/none", "family/thing", "launch-1", words, "cannot", octant::Exit::wrong_word);
}

void order(octant::Checks& checks) {
    for (auto a = octant::precedence.begin(); a != octant::precedence.end(); ++a)
        for (auto b = a; b != octant::precedence.end(); ++b)
            checks.that(octant::worst(*a, *b) == *a && octant::worst(*b, *a) == *a, octant::name_of(*b));
}

void progress(octant::Checks& checks, std::string const& path) {
    octant::Progress progress(path, "launch-1");
    progress.write(1.0000001, "solve");
    checks.that(Json::parse_file(path) == Json::parse(R"({"launch":"launch-1","share":1,"phase":"solve"})"),
                "no share is above 1");
    progress.write(std::nan(""), "solve");
    checks.that(progress.last() == R"({"share":0,"phase":"solve"})", "or no number");
}

}  // namespace

int main(int argc, char** argv) {
    octant::Session const session(&argc, &argv);
    octant::Checks checks;
    char folder[] = "/tmp/octant-record-XXXXXX";
    checks.that(mkdtemp(folder) != nullptr, "a folder");
    std::string const path = std::string(folder) + "/records.jsonl";
    write_two(session, path);
    read_back(checks, path);
    unlink(path.c_str());
    no_space(checks, session, path);
    unlink(path.c_str());
    reasons(checks, session, path);
    torn_line(checks, session, path);
    early_end(checks, path);
    order(checks);
    checks.refused([&] { octant::Recorder(session, "family/thing", std::string(folder) + "/no/such/file", ""); },
                   "cannot write records");
    unlink(path.c_str());
    progress(checks, path + ".progress");
    checks.that(rmdir(folder) == 0, "nothing is left");
    return checks.result();
}
