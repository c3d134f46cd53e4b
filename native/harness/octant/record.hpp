// One JSON line a point, on disk before the next point starts. Raw facts only; nothing derived, nothing for people.
#pragma once

#include "octant/measure.hpp"

#include <string>

namespace octant {

struct PointOutcome {
    Measurement measured;
    Work work;
    Verdict verdict;
    std::vector<PagesGiven> pages;  // this rank's watched buffers
    bool step_kernel;
};

class Recorder {  // all ranks construct and call write together, rank 0 writes; a failure is written by who calls
  public:
    Recorder(Comm const& world, std::string path, std::string run_key);  // throws Refusal: cannot open
    void write(KernelInfo const& info, Context const& context, Settings const& settings, PointOutcome const& outcome);
    void write_failure(KernelInfo const& info, Knobs const& knobs, std::string const& reason, Exit code);

  private:
    void append(std::string const& line) const;
    Comm const& world_;
    std::string path_, run_key_;
    ClockQuality clock_;
};

[[nodiscard]] std::string describe(KernelInfo const& info);  // JSON
[[nodiscard]] std::vector<Knob> harness_knobs(KernelInfo const& info);

}  // namespace octant
