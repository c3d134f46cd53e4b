// The stopping rule of a point.
#pragma once

#include "octant/measure.hpp"

#include <string>
#include <vector>

namespace octant {

struct Spent {
    int bursts;
    std::int64_t samples;
    double elapsed_s;
    double next_s;  // that another burst needs at least
};

// "interval", "samples", "time", or "" to continue; the same on all ranks. `watched` are this rank's series.
[[nodiscard]] std::string reason_to_stop(Comm const& world, std::vector<std::vector<double>> const& watched,
                                         Spent const& spent, Settings const& settings);

// Samples of `series` that lie in `off`, or all of them where there is no range.
[[nodiscard]] std::vector<double> within(std::vector<std::int64_t> const& series, Ranges const& off);
// Where in the whole series the first `number` samples of `off` end; none end at its begin.
[[nodiscard]] std::int64_t place_in(Ranges const& off, std::int64_t number);

}  // namespace octant
