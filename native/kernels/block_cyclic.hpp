// One dimension of a block-cyclic matrix: blocks are assigned to the processes round-robin, the first to process 0.
#pragma once

#include <algorithm>
#include <cstdint>

namespace octant {

struct BlockCyclic {
    std::int64_t n = 0;      // of the whole dimension
    std::int64_t block = 1;  // rows or columns of a block; the last may be shorter
    int processes = 1;

    [[nodiscard]] constexpr int owner(std::int64_t global) const noexcept {
        return static_cast<int>(global / block % processes);
    }
    [[nodiscard]] constexpr std::int64_t local(std::int64_t global) const noexcept {  // where its owner keeps it
        return global / block / processes * block + global % block;
    }
    [[nodiscard]] constexpr std::int64_t global(std::int64_t local, int process) const noexcept {
        return (local / block * processes + process) * block + local % block;
    }
    // Of the indices below `global`, how many `process` has; so also where its first one not below it lies.
    [[nodiscard]] constexpr std::int64_t count_below(std::int64_t global, int process) const noexcept {
        std::int64_t const round = block * processes;
        return global / round * block + std::clamp<std::int64_t>(global % round - process * block, 0, block);
    }
    [[nodiscard]] constexpr std::int64_t count(int process) const noexcept { return count_below(n, process); }
};

}  // namespace octant
