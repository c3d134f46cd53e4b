// octant-bind: gives this process its place (hardware threads, memory, page behaviour, OpenMP), then becomes the
// program.
//
//   octant-bind [options] [--rank 0 cpus=0-3 threads=0/1/2/3 mem=bind:0 --rank 1 …] -- PROGRAM ARGS…
//
//   --rank N            the following options are for local rank N; a variable of the launcher contains the local rank
//     cpus=LIST         the rank's hardware threads           threads=A/B/…  a set for each OpenMP thread
//     mem=POLICY        default, local, bind:0+1, interleave:0+1, preferred:0
//   --local-rank N      do not ask the launcher
//   --widen             may leave the mask that the process was started with (never a cpuset)
//   --no-thp            no transparent huge pages          --heap thp|BYTES   huge pages for malloc (glibc 2.35)
//   --segments LIST     text+data+stack on large pages, by the library in --preload PATH
//   --mark TOKEN        OCTANT_MARK=TOKEN in the environment, by which `octant where` finds the process
//   --refusal FILE      append a line to FILE if the program is not started: the exit code and the reason
//   --die-with PID      end when process PID, which started this one, ends, however it ends
//   --report FILE       wait for the program, append a line of JSON about its run to FILE (src/octant/launch/guard.py)
//                       and end as it ended; processes that it leaves behind are ended
//     --whole           the program is the whole command line of a launch, launcher included: also read its energy
//     --remove FOLDER   remove the folder when everything has ended
//     --profile NAME    profile the program's MPI calls, in the launch NAME; the last guard of a node writes the
//     profiles
//       --profiler FILE   the library that records them
//       --to FOLDER       gets a file of each node (native/profiler/packed_format.h)
//       --profile-mode MODE   full, counts, off (until the program starts the recording), waits (with barriers)
//       --no-sites        do not separate calls by call site
//     --sysfs FOLDER    read the energy counters there, not in /sys
//
//   octant-bind --collect NAME --to FOLDER
//
// collects the profiles of a launch whose guards were killed on this node, and removes them from it.
//
// It starts any program, so it refuses to run with more rights than its caller's (set-user-ID, capabilities of the
// file).
//
// Exit: 2 cannot read its words, 3 the system does not give what was asked, 126 the program cannot be executed, 127 it
// was not found.
#include "guard.hpp"
#include "prepare.hpp"
#include "profile.hpp"
#include "start.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

using namespace octant::bind;

namespace {

void prepare(Plan const& plan) {
    if (plan.die_with) die_with(*plan.die_with);
    if (plan.no_thp) disable_thp();
    set_heap(plan.heap);
    set_segments(plan);
    if (!plan.mark.empty()) setenv("OCTANT_MARK", plan.mark.c_str(), 1);
    if (plan.ranks.empty()) return;
    RankPlan const& rank = mine(plan);
    bind_cpus(rank.cpus, plan.widen);
    bind_memory(rank.memory);
    set_openmp(rank);
}

// Launchers change exit statuses, and may discard standard error.
void record_refusal(std::string const& path, Refusal const& refusal) {
    if (path.empty()) return;
    std::string line = std::to_string(refusal.code()) + ' ' + refusal.what();
    std::ranges::replace(line, '\n', ' ');
    line += '\n';
    int const file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return;
    static_cast<void>(!write(file, line.data(), line.size()));
    close(file);
}

}  // namespace

int main(int argc, char** argv) {
    std::string refusal_file;
    try {
        refuse_raised_rights();
        Plan const plan = parse(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
        refusal_file = plan.refusal;
        if (!plan.collect.empty()) return collect(plan);
        prepare(plan);
        if (!plan.report.empty()) guard(plan);
        StartError const failed = start(plan.program.data());  // argv ends with a null pointer, and so does its end
        std::fprintf(stderr, "octant-bind: cannot start '%s' (%s); try its full path\n", plan.program[0],
                     failed.reason.c_str());
        return failed.status;
    } catch (Refusal const& refusal) {
        std::fprintf(stderr, "octant-bind: %s\n", refusal.what());
        record_refusal(refusal_file, refusal);
        return refusal.code();
    }
}
