// The arguments of octant-bind as plain values.
#pragma once

#include <sched.h>

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace octant::bind {

// The cause, then the next step, and the exit code (octant/exit.hpp).
class Refusal : public std::runtime_error {
  public:
    Refusal(std::string const& text, int code) : std::runtime_error(text), code_(code) {}
    [[nodiscard]] int code() const noexcept { return code_; }

  private:
    int code_;
};

using Numbers = std::vector<int>;  // ascending, each once

// Modes of set_mempolicy(2), as numbers of the kernel interface, so that libnuma is not needed.
enum Mode { mode_default = 0, mode_preferred = 1, mode_bind = 2, mode_interleave = 3, mode_local = 4 };

struct Memory {
    int mode = -1;  // a Mode; -1: left as it is
    Numbers nodes;
    std::string name;
};

struct RankPlan {
    Numbers cpus;                  // empty: left as it is
    std::vector<Numbers> threads;  // one set a thread; empty: OpenMP is left as it is
    Memory memory;
};

struct Plan {
    std::optional<std::size_t> die_with;  // the process that started this one
    bool widen = false;                   // may extend the CPU mask that was inherited
    bool no_thp = false;                  // no transparent huge pages in this process and its children
    std::string heap;                     // "": as it is, "thp", or a pool's page size in bytes
    std::string segments;                 // "text+data+stack": parts that are to lie on large pages
    std::string preload;                  // the library that requests them inside the program
    std::string refusal;                  // file that records why the program is not started
    std::string report;                   // file that gets a line about the program when it has ended; "": none
    bool whole = false;                   // the program is the whole command line of a launch
    std::string remove;                   // folder that is removed when everything has ended; "": none
    std::string sysfs = "/sys";           // where energy counters are
    std::string profile;                  // name of the launch whose MPI calls are profiled; "": none
    std::string profiler;                 // library that records them
    std::string profile_mode = "full";    // or "counts", "off" or "waits"
    bool profile_sites = true;            // calls are separated by call site
    std::string collect;                  // name of a launch whose profile is collected; no program is started
    std::string to;                       // folder that gets the profiles
    std::string mark;                     // token that `octant where` finds the process by
    std::optional<std::size_t> local_rank;
    std::vector<RankPlan> ranks;
    std::span<char*> program;
};

// `0-3,8`, joined by ',' or '+'.
Numbers parse_numbers(std::string_view text);
std::string text_of(Numbers const& numbers, char comma = ',');

// argv without the program's own name. Throws Refusal.
Plan parse(std::span<char*> words);

// The entry of this process. Throws Refusal if the launcher sets no local rank, or the plan has no entry for it.
RankPlan const& mine(Plan const& plan);

}  // namespace octant::bind
