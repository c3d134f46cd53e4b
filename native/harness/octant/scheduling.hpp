// Scheduling of this process: policy, priorities, and control groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace octant {

struct Quota {           // CPU quota of a control group
    std::string group;   // its path: "/job/step"
    double cores;        // CPU time per time
    std::string folder;  // with its files
};

struct CpuGroups {
    std::string own;                              // path of this process's own group for the CPU controller
    std::optional<std::int64_t> shares;           // weight, version 1, usually 1024
    std::optional<std::int64_t> weight;           // version 2, usually 100
    std::string cpuset;                           // CPUs that its group may use, as the kernel lists them
    std::vector<Quota> quotas;                    // from the process's group to the root, innermost first
    [[nodiscard]] Quota const* smallest() const;  // quota; nullptr without any
};

// Of versions 1 and 2, below `root`. In a container the path may lie outside of the mount: the mount then counts.
[[nodiscard]] CpuGroups cpu_groups(std::string const& root = "/");

// Total throttled time of the group, summed over CPUs; 0 if not available.
[[nodiscard]] std::int64_t throttled_ns(Quota const& quota);

class Throttling {  // by the quotas of these groups, over bursts
  public:
    explicit Throttling(std::vector<Quota> quotas) : quotas_(std::move(quotas)), sums_(quotas_.size()) {}
    void begin();
    void end();
    [[nodiscard]] std::pair<std::string, std::int64_t> most() const;  // group and ns; "" and 0 without any

  private:
    std::vector<Quota> quotas_;
    std::vector<std::int64_t> before_, sums_;
};

struct Scheduling {
    std::string policy;  // other, batch, idle, fifo, rr, deadline
    int priority = 0;    // of fifo and rr
    int nice = 0;
    std::string autogroup;  // the session's group and its nice value; "" where there are none
    CpuGroups groups;
};

// Of the calling thread.
[[nodiscard]] Scheduling scheduling();

}  // namespace octant
