// A record is one JSON line with every field that readers rely on, appended; an unwritable path is refused at once.
#include "octant/record.hpp"

#include "check.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdlib>
#include <fstream>

namespace {

using Json = nlohmann::json;

octant::Lane lane(int rank, int thread) {
    octant::Lane made;
    made.rank = rank;
    made.thread = thread;
    made.begin_ns = {1000, 1200, 1400};
    made.duration_ns = {100, 110, 120};
    made.preempted = {2};
    made.clock_hz = {3'000'000'000};
    return made;
}

void write_two(octant::Comm const& world, std::string const& path) {
    octant::KernelInfo const info{.name = "thing", .knobs = {}};
    octant::Knobs const knobs(octant::harness_knobs(info));
    octant::Context context{world, knobs, 2, octant::PagePolicy::parse("base"), octant::NodePolicy::parse("default")};
    context.notes = {{"width", "512"}};
    octant::Settings const settings{1, 100, 10, 0.01, octant::Sync::clock, true, false};
    octant::Measurement measured;
    measured.lanes = {lane(0, 0), lane(0, 1)};
    measured.stopped_by = "samples";
    measured.origin_ns = 900;
    octant::Recorder recorder(world, path, "run-1");
    recorder.write(info, context, settings, {measured, {.flops = 7}, {"check", 0.5, 1}, {}, false});
    measured.lanes.pop_back();
    recorder.write(info, context, settings, {measured, {}, {"check", std::nan(""), 1}, {}, true});
    recorder.write_failure(info, knobs, "cannot do \"that\"", octant::Exit::not_supported);
}

void read_back(octant::Checks& checks, std::string const& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    Json const lanes = Json::parse(line);
    checks.that(lanes["schema"] == 1 && lanes["kind"] == "point" && lanes["run"] == "run-1", "what it is");
    checks.that(lanes["samples"]["lanes"].size() == 2, "two lanes");
    checks.that(lanes["samples"]["lanes"][1]["begin_ns"] == Json({100, 300, 500}), "begins count from the start");
    checks.that(lanes["samples"]["lanes"][0]["duration_ns"] == Json({100, 110, 120}), "every sample");
    checks.that(lanes["samples"]["lanes"][0]["preempted"] == Json({2}), "flags");
    checks.that(lanes["work"]["flops"] == 7 && lanes["verdict"]["passed"] == true, "work and verdict");
    checks.that(lanes["given"][0]["thread_masks"].size() == 2 && lanes["notes"]["width"] == "512", "what was given");
    std::getline(file, line);
    Json const steps = Json::parse(line);
    checks.that(steps["sampling"] == "steps" && steps["samples"]["slowest_rank"].size() == 3, "steps");
    checks.that(steps["verdict"]["passed"] == false, "NaN never passes");
    std::getline(file, line);
    Json const failure = Json::parse(line);
    checks.that(failure["kind"] == "failure" && failure["exit"] == 3 && failure["reason"] == "cannot do \"that\"",
                "why");
    checks.that(!std::getline(file, line), "three lines, no more");
}

// A disk that fills up in the middle of a record: what was whole stays, and the reason still fits.
void no_space(octant::Checks& checks, octant::Comm const& world, std::string const& path) {
    octant::KernelInfo const info{.name = "thing", .knobs = {}};
    octant::Knobs const knobs(octant::harness_knobs(info));
    octant::Recorder recorder(world, path, "run-1");
    recorder.write_failure(info, knobs, "the first", octant::Exit::not_supported);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit const little{8192, before.rlim_max};
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    checks.refused([&] { recorder.write_failure(info, knobs, std::string(20'000, 'x'), octant::Exit::cannot_run); },
                   "cannot write a record");
    recorder.write_failure(info, knobs, "the last", octant::Exit::cannot_run);
    setrlimit(RLIMIT_FSIZE, &before);
    std::ifstream file(path);
    for (std::string const reason : {"the first", "the last"}) {
        std::string line;
        std::getline(file, line);
        checks.that(Json::accept(line) && Json::parse(line)["reason"] == reason, reason + " is a line of its own");
    }
}

}  // namespace

int main(int argc, char** argv) {
    octant::Session const session(&argc, &argv);
    octant::Checks checks;
    char folder[] = "/tmp/octant-record-XXXXXX";
    checks.that(mkdtemp(folder) != nullptr, "a folder");
    std::string const path = std::string(folder) + "/records.jsonl";
    write_two(session.world(), path);
    read_back(checks, path);
    unlink(path.c_str());
    no_space(checks, session.world(), path);
    checks.refused([&] { octant::Recorder(session.world(), std::string(folder) + "/no/such/file", ""); },
                   "cannot write records");
    unlink(path.c_str());
    rmdir(folder);
    return checks.result();
}
