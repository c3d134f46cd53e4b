// Energy counters of the processors, as Linux shows them in /sys/class/powercap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octant::bind {

struct EnergyDomain {
    std::string name;  // "package-0", "package-0/dram"
    std::string folder;
    std::int64_t last_uj = 0, range_uj = 0;  // the counter begins at 0 again after range_uj
    std::int64_t sum_uj = 0;
    bool readable = true;
};

// Not safe for several threads at a time: its user has a mutex.
class Energy {
  public:
    // Finds the domains whose counters may be read (often by root alone), and reads them.
    void begin(std::string const& sysfs = "/sys");
    void sample();  // more often than a counter wraps around: a quarter of an hour at 300 W
    [[nodiscard]] std::vector<EnergyDomain> const& domains() const { return domains_; }

  private:
    std::vector<EnergyDomain> domains_;
};

}  // namespace octant::bind
