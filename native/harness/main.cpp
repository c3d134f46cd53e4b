// The main program of every kernel: words in, records out, and an exit code that reports_progress the truth.
#include "octant/arguments.hpp"
#include "octant/kernel.hpp"
#include "octant/point.hpp"
#include "octant/record.hpp"

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <thread>

namespace octant {
namespace {

// Records the failure of this rank: a launcher may end the job before it forwards standard error.
void record_failure(Recorder const& recorder, Knobs const& knobs, int rank, std::string const& reason, Exit code,
                    std::string const& progress) {
    try {
        recorder.write_failure(knobs, "rank " + std::to_string(rank) + ": " + reason, code, progress);
    } catch (Refusal const&) {  // records that cannot be written; the reason is also on standard error
    }
}

// Refuses invalid values before the first measurement.
void check_words(std::vector<Knobs> const& all, Program const& program, int ranks) {
    for (Knobs const& knobs : all) {
        static_cast<void>(layout_of(knobs.word("layout"), PagePolicy::parse(knobs.word("pages"))));
        static_cast<void>(NodePolicy::parse(knobs.word("memory")));
        if (ranks > 0) static_cast<void>(Groups::parse(knobs.word("groups"), ranks, program.of(knobs).info.min_ranks));
    }
}

// Prints the description of the program. With ranks, refuses a launch with an invalid point or without a supported one.
int answer(Program const& program, std::vector<Knobs> const& all, int ranks) {
    std::optional<Refusal> first;
    std::size_t refused = 0;
    for (Knobs const& knobs : all) {
        if (ranks == 0) break;
        auto const refusal = shape_refusal(program.of(knobs).info, knobs, ranks);
        if (!refusal) continue;
        if (refusal->code() != Exit::not_supported) throw *refusal;
        if (refused++ == 0) first = refusal;
    }
    if (refused == all.size()) {
        std::fprintf(stderr, "%s: %s\n", workload_name, first->what());
        return static_cast<int>(Exit::not_supported);
    }
    std::cout << describe(workload_name, program) << '\n';
    return 0;
}

// Records the exit code of a launch of Octant: launchers change exit statuses.
void record_refusal(Arguments const& arguments, std::string const& reason, Exit code) {
    if (!arguments.launch.empty() && arguments.output != "-")
        record_early_end(arguments.output, workload_name, arguments.launch, arguments.words, reason, code);
}

// `recorded`: set if the records contain the reason why this rank ends.
int measure_all(Session const& session, Program const& program, std::vector<Knobs> const& all,
                Arguments const& arguments, bool& recorded) {
    Comm const& world = session.world();
    check_words(all, program, world.size());
    Recorder recorder(session, workload_name, arguments.output, arguments.launch);
    std::uint64_t const seed = arguments.seed ? *arguments.seed : std::random_device{}();
    Exit end = Exit::ok;
    for (Knobs const& knobs : all) {
        Row const& row = program.of(knobs);
        bool const reports_progress =
            Groups::parse(knobs.word("groups"), world.size(), row.info.min_ranks).members[0][0] == world.rank();
        Progress progress(reports_progress && arguments.output != "-" ? arguments.output + ".progress" : "",
                          arguments.launch);
        try {
            end = worst(end, measure_point(session, row, knobs, recorder, progress, seed));
        } catch (Refusal const& refusal) {
            // An unsupported point is recorded, and the next one follows. All ranks take this path.
            if (refusal.code() != Exit::not_supported) {
                record_failure(recorder, knobs, world.rank(), refusal.what(), refusal.code(), progress.last());
                recorded = true;
                throw;
            }
            if (world.rank() == 0) {
                recorder.write_failure(knobs, refusal.what(), refusal.code());
                std::fprintf(stderr, "%s: %s\n", workload_name, refusal.what());
            }
            end = worst(end, refusal.code());
        } catch (std::exception const& error) {
            record_failure(recorder, knobs, world.rank(), reason_of(error), Exit::cannot_run, progress.last());
            recorded = true;
            throw;
        }
    }
    return static_cast<int>(end);
}

// Ends this rank if its launcher is killed; otherwise it would wait indefinitely. Only for launches of Octant.
void die_with_parent() {
    pid_t const parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::raise(SIGKILL);  // it ended in between
}

// If memory runs out in spite of all claims, the OOM killer ends this process first: memory other than its buffers is
// not claimed, and other processes may grow meanwhile. Raising this value needs no privileges.
void raise_oom_score() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

// A launcher that learns of the abort first ends the job without passing on what still lies in the pipe.
void wait_until_read(int pipe) {
    int unread = 0;
    for (int tries = 0; tries < 200 && ioctl(pipe, FIONREAD, &unread) == 0 && unread > 0; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Reports why this rank ends, also where MPI did not start or where the session could not be made, and ends the job.
// The other ranks may be inside a collective: only ending the whole job ends them.
int end_job(std::exception const& error, Arguments const& arguments, bool recorded) {
    auto const* refusal = dynamic_cast<Refusal const*>(&error);
    Exit const end = refusal != nullptr ? refusal->code() : Exit::cannot_run;
    int const code = static_cast<int>(end);
    int started = 0, rank = 0, ranks = 1;
    MPI_Initialized(&started);
    if (started != 0) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    }
    std::fprintf(stderr, "%s: rank %d: %s\n", workload_name, rank, reason_of(error).c_str());
    wait_until_read(STDERR_FILENO);
    if (!recorded) record_refusal(arguments, reason_of(error), end);
    if (ranks > 1) MPI_Abort(MPI_COMM_WORLD, code);
    return code;
}

}  // namespace

int run_program(int argc, char** argv, Program const& program) {
    std::vector<Knob> const declared = program.knobs();
    Arguments arguments;
    std::vector<Knobs> all;
    try {  // before MPI starts: a typo costs nothing
        arguments = Arguments::parse(argc, argv);
        all = points(declared, arguments.words);
        if (arguments.seed) shuffle(all, *arguments.seed);
        check_words(all, program, arguments.ranks);
        if (arguments.describe) return answer(program, all, arguments.ranks);
    } catch (Refusal const& refusal) {
        std::fprintf(stderr, "%s: %s\n", workload_name, refusal.what());
        record_refusal(arguments, refusal.what(), Exit::wrong_word);
        return static_cast<int>(Exit::wrong_word);
    }
    umask(077);  // all files of a kernel are accessible only to the user, regardless of the shell's umask
    if (!arguments.launch.empty()) die_with_parent();
    raise_oom_score();
    bool recorded = false;
    std::optional<Session> session;  // outlives the handler, which may have to end a job whose other ranks wait
    try {
        session.emplace(&argc, &argv, program.rows.front().info.thread_multiple);
        if (program.after_init != nullptr) session->keep(program.after_init(session->world(), all.front()));
        return measure_all(*session, program, all, arguments, recorded);
    } catch (std::exception const& error) {
        return end_job(error, arguments, recorded);
    }
}

}  // namespace octant
