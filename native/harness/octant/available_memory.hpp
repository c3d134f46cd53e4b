// Memory that a process may use without an out-of-memory kill of it or of another process.
#pragma once

#include "octant/mpi.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace octant {

struct MemoryPart {      // memory shared by processes: of the system, a memory node or a control group
    std::int64_t id;     // the same in all processes that share it
    std::int64_t bytes;  // available
};

// A process may use the sum of all parts of a bound, and must respect each of its bounds.
using MemoryBound = std::vector<MemoryPart>;

// The system; the memory nodes, where this process may not use all of them; and each control group with a limit, of
// version 1 or 2, from the process's own to the root. Of a group limit - usage + page cache that can be dropped is
// left: files in memory (tmpfs, shared memory) and dirty pages cannot be dropped. Swap is not counted. `bound_to`:
// nodes that a memory policy binds to; empty: none does. `root`: of a recorded tree.
[[nodiscard]] std::vector<MemoryBound> memory_bounds(std::vector<int> const& bound_to = {},
                                                     std::string const& root = "/");

// Limits of control groups on pages of a huge-page pool, and on memory where that includes these pages. Whether the
// pool has as many is for the mapping to find out.
[[nodiscard]] std::vector<MemoryBound> pool_bounds(std::int64_t page_bytes, std::string const& root = "/");

// Memory that each of several processes may use: an equal share of every part per process that uses it.
// INT64_MAX: unlimited.
[[nodiscard]] std::vector<std::int64_t> shares_of(std::vector<std::vector<MemoryBound>> const& processes);

// This rank's share; collective over the ranks that may share memory. A rank that takes none has no bounds.
[[nodiscard]] std::int64_t share_of(Comm const& ranks, std::vector<MemoryBound> const& bounds);

}  // namespace octant
