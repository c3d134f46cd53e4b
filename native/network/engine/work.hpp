// Progress of long computations: for estimates, for Ctrl-C, and for the limit of their duration.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>
#include <exception>
#include <string>

namespace octant::network {

inline constexpr double max_cpu_s = 600;  // a question expected to take longer is refused

struct Stopped : std::exception {};  // by Ctrl-C

// Ends the present work at its next step; safe in a signal handler. False where no work is under way.
bool stop_work() noexcept;
// Whether a stop was requested and has not ended any work; clears the request.
bool consume_stop_request() noexcept;

struct Progress {
    double share;       // of the work that is done; 1 where there is none
    double expected_s;  // from beginning to end; 0: not known yet
};
[[nodiscard]] Progress progress_of_work() noexcept;

// Steps of about equal cost. Only the outermost work counts; within it others pass unnoticed.
class Work {
  public:
    // `alternative` completes the refusal "cannot …; try ".
    Work(double steps, std::string alternative);
    ~Work();
    Work(Work const&) = delete;
    Work& operator=(Work const&) = delete;

    // Counts steps; false: skip the remaining ones. For parallel loops, which exceptions must not leave: call `check`
    // after the loop. Without an estimate, before the first steps are done, only Ctrl-C ends the work.
    bool try_advance(double steps = 1) noexcept;
    // Throws Stopped, or std::invalid_argument with the estimate.
    void check();
    void advance(double steps = 1) {
        if (!try_advance(steps)) check();
    }

  private:
    [[nodiscard]] bool too_long(double done) noexcept;

    std::string alternative_;
    double steps_;
    bool outermost_;
    std::atomic<double> done_ = 0, expected_cpu_s_ = 0;
    std::atomic<bool> refused_ = false;
    std::clock_t cpu_;
    std::chrono::steady_clock::time_point begun_;
    std::atomic<double> last_check_s_ = 0;
};

}  // namespace octant::network
