// CPU time that the hypervisor took.
#pragma once

#include <cstdint>
#include <vector>

namespace octant {

// Nanoseconds that the hypervisor took from these CPUs (ascending) since the system started, added up; -1: not told.
[[nodiscard]] std::int64_t stolen_ns(std::vector<int> const& cpus);

}  // namespace octant
