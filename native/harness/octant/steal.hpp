// Steal time.
#pragma once

#include <cstdint>
#include <vector>

namespace octant {

// Returns the steal time of these CPUs (ascending) since boot, ns, summed; -1: not available.
[[nodiscard]] std::int64_t stolen_ns(std::vector<int> const& cpus);

}  // namespace octant
