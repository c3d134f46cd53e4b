// How much memory a process may take so that the system kills neither it nor a neighbour for want of memory.
#pragma once

#include "octant/mpi.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace octant {

struct MemoryPart {      // memory that several processes may share: the system's, a memory node's, a control group's
    std::int64_t id;     // the same in all processes that share it
    std::int64_t bytes;  // left in it
};

// A process may take what is left in all parts of a bound together, and has to keep within each of its bounds.
using MemoryBound = std::vector<MemoryPart>;

// The system; the memory nodes, where this process may not use all of them; and each control group with a limit, of
// version 1 or 2, from the process's own to the root. Of a group limit - usage + page cache that can be dropped is
// left: files in memory (tmpfs, shared memory) and what is still to be written to a disk cannot. Swap is never counted:
// to push a neighbour out of memory is no room. `bound_to`: nodes that a memory policy binds to; empty: none does.
// `root`: of a recorded tree.
[[nodiscard]] std::vector<MemoryBound> memory_bounds(std::vector<int> const& bound_to = {},
                                                     std::string const& root = "/");

// Limits of control groups on pages of a huge-page pool, and on memory where that includes these pages. Whether the
// pool has as many is for the mapping to find out.
[[nodiscard]] std::vector<MemoryBound> pool_bounds(std::int64_t page_bytes, std::string const& root = "/");

// What each of several processes may take at once: of every part an equal share for each process that uses it.
// INT64_MAX: nothing bounds it.
[[nodiscard]] std::vector<std::int64_t> shares_of(std::vector<std::vector<MemoryBound>> const& processes);

// This rank's share; collective over the ranks that may share memory. A rank that takes none has no bounds.
[[nodiscard]] std::int64_t share_of(Comm const& ranks, std::vector<MemoryBound> const& bounds);

}  // namespace octant
