// Counts of the calls by which an MPI library waits and copies. This program defines the functions itself, so that the
// library's calls come here; each does what the system's does.
#pragma once

#include <atomic>

namespace octant {

struct Calls {
    std::atomic<long> yields{0}, sleeps{0}, copies{0};
};

[[nodiscard]] Calls& calls();

}  // namespace octant
