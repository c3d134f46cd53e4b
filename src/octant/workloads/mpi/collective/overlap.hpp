// Computing while a non-blocking operation is under way: a fixed amount of work, as long as the operation takes alone.
#pragma once

#include "octant/kernel.hpp"

#include <functional>

namespace collective {

inline constexpr std::size_t pure = 0, computing = 1, whole = 2, whole_computing = 3, whole_wait = 4;  // phases

class Overlap {
  public:
    // `test`: how often MPI_Test is called, "none" or a time. `alone` carries the operation out, without computing;
    // collective over the group.
    Overlap(octant::Context& context, std::string const& test, std::function<void()> const& alone);
    void compute();
    // The same amount of work, with calls of MPI_Test in between.
    void compute_and_test(MPI_Request& request);

  private:
    std::int64_t units_, between_tests_;  // 0: no tests
    double value_ = 1;
};

}  // namespace collective
