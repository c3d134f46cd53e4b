// The declaration of a kernel, and the types of its counts, results and checks.
#pragma once

#include "octant/failure.hpp"
#include "octant/knobs.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace octant {

// chunks: independent threads, batched to samples of about 100 us; steps: all ranks of a group together, in bursts;
// whole: long repetitions; each is a sample and is verified.
enum class Pace { chunks, steps, whole };
enum class Sync { none, barrier, dissemination, clock };  // how the ranks of a group start a step together
enum class Waits { sleeps, polls };  // between bursts; polls: other ranks need MPI progress on this rank

struct Role {  // role of a lane or rank; the first role is timed and determines the stopping rule
    std::string name;
    bool timed = true;  // times are stored
    Waits waits = Waits::sleeps;
};

struct Reading {  // a value that the kernel records per step
    std::string name, unit;
};

// Returns the Refusal of knobs for a group of `ranks` ranks with `threads` threads each, or nothing. Code wrong_word:
// the launch is refused before it starts; not_supported: this point is refused, and others are measured.
using Takes = std::optional<Refusal> (*)(int ranks, int threads, Knobs const& knobs);

struct KernelInfo {
    std::vector<Knob> knobs = {};
    Pace pace = Pace::chunks;
    Sync sync = Sync::clock;
    std::vector<std::string> phases = {};  // paths: "solve", and "solve/halo" for a part of it
    std::vector<Role> roles = {Role{}};
    std::vector<Reading> readings = {};
    int min_ranks = 1;                 // of each group
    bool thread_multiple = false;      // threads call MPI concurrently
    bool library_threads = false;      // `threads` are those of a library; the kernel has one lane
    bool blocks = false;               // steps wait without the CPU (disk, timer, helper thread)
    std::int64_t sample_ns = 100'000;  // chunks are batched to samples of about this; 0: never batched
    std::vector<std::pair<std::string, std::string>> defaults = {};  // other defaults of harness knobs
    Takes takes = nullptr;  // called before the constructor; null: all shapes are supported
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
    std::optional<double> bound = {};  // with a bound it is a check, passed if value <= bound (not for NaN)
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
