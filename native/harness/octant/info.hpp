// What a kernel declares about itself, and the small lists that it answers with.
#pragma once

#include "octant/failure.hpp"
#include "octant/knobs.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace octant {

// chunks: one thread alone, batched to samples of about 100 us; steps: all ranks of a group together, in bursts;
// whole: one repetition lasts long, or cannot be repeated at once: each one is a sample, and is verified.
enum class Pace { chunks, steps, whole };
enum class Sync { none, barrier, dissemination, clock };  // how the ranks of a group start a step together
enum class Waits { sleeps, polls };  // between bursts; polls: others need the library's progress on this rank

struct Role {  // what a lane or rank does; the first role is what the stopping rule looks at, and is timed
    std::string name;
    bool timed = true;  // its times are kept
    Waits waits = Waits::sleeps;
};

struct Reading {  // a number of the kernel's own
    std::string name, unit;
};

// Why a group of `ranks` ranks with `threads` threads each cannot do what the knobs ask, nothing where it can. The code
// is wrong_word: the launch is refused before it starts; or not_supported: this point is, and others are measured.
using Takes = std::optional<Refusal> (*)(int ranks, int threads, Knobs const& knobs);

struct KernelInfo {
    std::vector<Knob> knobs = {};
    Pace pace = Pace::chunks;
    Sync sync = Sync::clock;
    std::vector<std::string> phases = {};  // paths: "solve", and "solve/halo" for a part of it
    std::vector<Role> roles = {Role{}};
    std::vector<Reading> readings = {};
    int least_ranks = 1;               // of each group
    bool thread_multiple = false;      // its threads call MPI at the same time
    bool library_threads = false;      // `threads` are the library's; the kernel has one lane
    bool blocks = false;               // its steps wait without the CPU: for a disk, a timer, or a thread of its own
    std::int64_t sample_ns = 100'000;  // chunks are batched to samples of about this; 0: never batched
    std::vector<std::pair<std::string, std::string>> defaults = {};  // of harness knobs, where others suit this kernel
    Takes takes = nullptr;  // asked before the constructor, which may rely on it; none: every shape
};

// Counted from the source, for one chunk of one lane or one step of one rank. Rates are derived later, in Python.
struct Count {
    std::string name;
    std::int64_t value;
};
using Counts = std::vector<Count>;

struct Result {
    std::string name;
    double value;
    std::string unit;
    std::optional<double> bound = {};  // with a bound it is a check: right where value <= bound, so never for a NaN
    std::string where = {};            // of a check that fails: "rank 1, byte 17 of 64 from rank 0"
    [[nodiscard]] bool right() const noexcept { return !bound || value <= *bound; }
};
using Results = std::vector<Result>;

[[nodiscard]] char const* name_of(Pace pace);
[[nodiscard]] char const* name_of(Sync sync);
[[nodiscard]] Sync sync_of(std::string const& word);  // one of the names above

// As `Takes`, of all groups that the knobs make of so many ranks. Throws Refusal: no such groups.
[[nodiscard]] std::optional<Refusal> shape_refusal(KernelInfo const& info, Knobs const& knobs, int ranks);

// `whole`: the program has a kernel of this pace.
[[nodiscard]] std::vector<Knob> harness_knobs(KernelInfo const& info, bool whole);

}  // namespace octant
