// The progress file of a launch, which exists while a point is measured.
#pragma once

#include <cstdint>
#include <string>

namespace octant {

// `<records>.progress`: progress of a long repetition, for progress bars and for the record of a killed launch.
class Progress {
  public:
    explicit Progress(std::string path = "", std::string launch = "");  // an empty path: nothing is written
    Progress(Progress const&) = delete;
    Progress& operator=(Progress const&) = delete;
    ~Progress();
    // Replaces the file atomically, at most ten times per second. Errors of the file system are ignored.
    void write(double share, std::string const& phase);
    // {"share":…,"phase":…} of the last call of `write`; empty before the first call.
    [[nodiscard]] std::string last() const;

  private:
    std::string path_, launch_, phase_;
    double share_ = -1;
    std::int64_t written_ns_ = 0;
};

}  // namespace octant
