// Lost time of a program between two readings.
#pragma once

#include "line.hpp"

#include "octant/scheduling.hpp"

#include <cstdint>
#include <string>

namespace octant::bind {

class LostTime {
  public:
    explicit LostTime(Numbers const& cpus);  // that the program may use; the first reading
    [[nodiscard]] Lost end();                // the second one

  private:
    Numbers cpus_;
    Throttling throttling_;
    std::string pressure_file_;
    std::int64_t begin_ns_, stolen_ns_, pressure_us_;
};

}  // namespace octant::bind
