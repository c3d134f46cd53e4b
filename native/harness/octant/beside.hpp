// What lies beside the records while a point is measured, and is gone afterwards.
#pragma once

#include <cstdint>
#include <string>

namespace octant {

// `<records>.progress`: how far a long repetition is, for bars and for the record of a launch that is killed.
class Progress {
  public:
    explicit Progress(std::string path = "", std::string launch = "");  // an empty path: nothing is written
    Progress(Progress const&) = delete;
    Progress& operator=(Progress const&) = delete;
    ~Progress();
    // Replaces the file in one piece, at most ten times a second: readers never see half of it. A disk that refuses is
    // no reason to stop measuring.
    void write(double share, std::string const& phase);
    // {"share":…,"phase":…} as last given; empty where nothing was. Other than the file it is never late.
    [[nodiscard]] std::string last() const;

  private:
    std::string path_, launch_, phase_;
    double share_ = -1;
    std::int64_t written_ns_ = 0;
};

class Scratch {  // a folder for a kernel's files, made when first asked for; who `removes` it does so at the end
  public:
    explicit Scratch(std::string path = "", bool removes = false);
    Scratch(Scratch const&) = delete;
    Scratch& operator=(Scratch const&) = delete;
    ~Scratch();
    [[nodiscard]] std::string const& folder() const;  // throws Refusal: cannot make it

  private:
    std::string path_;
    bool removes_;
};

}  // namespace octant
