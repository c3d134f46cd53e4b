// What octant-bind is told to do: words in, plain values out.
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

// Of set_mempolicy(2): numbers of the kernel's interface, so that no libnuma is needed.
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
    bool widen = false;                   // may leave the mask that whoever started us has set
    bool no_thp = false;                  // no transparent huge pages in this process and its children
    std::string heap;                     // "": as it is, "thp", or a pool's page size in bytes
    std::string segments;                 // "text+data+stack": parts that are to lie on large pages
    std::string preload;                  // the library that asks for them inside the program
    std::string refusal;                  // file that records why the program is not started
    std::string report;                   // file that gets a line about the program when it has ended; "": none
    bool whole = false;                   // the program is the whole command line of a launch
    std::string remove;                   // folder that is removed when everything has ended; "": none
    std::string sysfs = "/sys";           // where energy counters are
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

// This process' entry. Throws Refusal where no launcher told the local rank, or it has no entry.
RankPlan const& mine(Plan const& plan);

}  // namespace octant::bind
