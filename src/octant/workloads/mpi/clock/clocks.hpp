// The clocks that are measured, and how far one rank's is ahead of another's.
#pragma once

#include "octant/clock.hpp"
#include "octant/knobs.hpp"
#include "octant/mpi.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace clocks {

struct Wtime {
    static double read_s() { return MPI_Wtime(); }
};
struct Monotonic {
    static double read_s() { return static_cast<double>(octant::now_ns()) * 1e-9; }
};

using Read = double (*)();
[[nodiscard]] inline Read reader_of(octant::Knobs const& knobs) {
    return knobs.word("clock") == "wtime" ? &Wtime::read_s : &Monotonic::read_s;
}

struct Range {  // of what is not known exactly, s
    double low, high;
    [[nodiscard]] double middle() const { return (low + high) / 2; }
    [[nodiscard]] double half_width() const { return (high - low) / 2; }
    [[nodiscard]] bool meets(Range const& other) const { return low <= other.high && other.low <= high; }
};

// How far a rank's clock is ahead of the first rank's. An exchange that the first rank began and ended at `sent_s` and
// `received_s`, and the other answered at `answered_s`, bounds it from both sides, whichever way was the slower one.
class OffsetBounds {
  public:
    explicit OffsetBounds(std::int64_t exchanges) { all_.reserve(static_cast<std::size_t>(exchanges)); }
    void add(double sent_s, double answered_s, double received_s) {
        all_.push_back({answered_s - received_s, answered_s - sent_s});
    }
    [[nodiscard]] Range of_least_round_trip() const {
        Range least = all_.front();
        for (Range const& one : all_)
            if (one.half_width() < least.half_width()) least = one;
        return least;
    }
    // An answer that arrives before it was sent.
    [[nodiscard]] int contradictions(Range const& found) const {
        int count = 0;
        for (Range const& one : all_) count += one.meets(found) ? 0 : 1;
        return count;
    }

  private:
    std::vector<Range> all_;
};

// Exchanges readings of the first rank and `other`; called on both ranks.
void exchange_readings(octant::Comm const& group, int other, std::int64_t exchanges, Read read, OffsetBounds* found);

// How far the clock is ahead of CLOCK_MONOTONIC on this rank, without any message: the narrowest of many readings
// between two of the other clock.
[[nodiscard]] Range ahead_of_monotonic(Read read);

[[nodiscard]] std::vector<octant::Knob> knobs();

}  // namespace clocks
