// Time of a program of synchronised steps.
#pragma once

#include "engine/solution.hpp"

namespace octant::network {

struct LogGp {
    double overhead_s = 0;      // o, of sender and of receiver
    double gap_s_per_unit = 0;  // G, what the processor adds to every unit of a long message
};

// T = Σ over steps of: latency of the longest route + 2 o + (m - 1) G + fullest link. `step_s` gets each step's time.
[[nodiscard]] Solution solve_steps(Topology const& topology, Health const& health, Routing const& routing,
                                   std::vector<Flows> const& steps, UnitCost const& shape, LogGp const& costs,
                                   std::vector<double>& step_s);

}  // namespace octant::network
