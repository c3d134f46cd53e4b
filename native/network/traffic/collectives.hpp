// Collective operations as step programs: what every rank sends in each step.
#pragma once

#include "engine/traffic.hpp"

namespace octant::network {

// Steps of `operation` ("alltoall", "allreduce", "allgather", "broadcast", "reduce", "barrier") by `algorithm`; units
// are bytes. `bytes` is what one rank sends to another (alltoall, allgather) or the whole vector (the others).
[[nodiscard]] std::vector<Flows> collective(std::string const& operation, std::string const& algorithm, int ranks,
                                            double bytes);

}  // namespace octant::network
