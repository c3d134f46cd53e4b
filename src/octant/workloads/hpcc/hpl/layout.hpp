// Which part of the matrix a process has, and the communicators of its row and column of the grid.
#pragma once

#include "kernels/block_cyclic.hpp"
#include "octant/mpi.hpp"

#include <cstdint>
#include <string>

namespace hpl {

struct Grid {
    int rows = 1, columns = 1;
};

// "PxQ", or "auto": the squarest with no more rows than columns. Throws octant::Refusal: not a grid of so many.
[[nodiscard]] Grid parse_grid(std::string const& text, int processes);

// The matrix has n rows and n + 1 columns, the last of which is the right side. Processes are numbered along the rows
// of the grid. Each keeps its part row by row, since rows are what pivoting exchanges.
struct Layout {
    octant::BlockCyclic rows, columns;
    int row = 0, column = 0;  // of this process in the grid
    std::int64_t local_rows = 0, local_columns = 0;
    std::int64_t leading = 0;  // from one row to the next

    Layout(std::int64_t n, std::int64_t block, Grid grid, int process);

    [[nodiscard]] std::int64_t n() const { return rows.n; }
    [[nodiscard]] std::int64_t block() const { return rows.block; }
    // Local index of the first row or column at or after the global one.
    [[nodiscard]] std::int64_t first_row(std::int64_t global) const { return rows.count_below(global, row); }
    [[nodiscard]] std::int64_t first_column(std::int64_t global) const { return columns.count_below(global, column); }
    [[nodiscard]] bool has_row(std::int64_t global) const { return rows.owner(global) == row; }
    [[nodiscard]] bool has_column(std::int64_t global) const { return columns.owner(global) == column; }
};

// Numbers from one row or column to the next: whole cache lines, and no multiple of a page, so that neighbours do not
// fall into the same sets of a cache.
[[nodiscard]] constexpr std::int64_t padded(std::int64_t count) {
    std::int64_t const lines = (count + 7) / 8 * 8;
    return lines % 512 == 0 ? lines + 8 : lines;
}

// What a process gives to others: of a collective call what goes to each that gets it, of a reduction what it gives at
// each halving of the processes. The solution is left out: it gives less by a factor of n.
struct Sent {
    std::int64_t messages = 0, numbers = 0;

    void add(std::int64_t others, std::int64_t count) {
        messages += others;
        numbers += others * count;
    }
};

struct Process {
    Layout layout;
    octant::Comm along_row, along_column;  // the processes of this one's row by their columns, and the reverse
    octant::Comm const& all;
};

[[nodiscard]] Process join(octant::Comm const& all, Layout const& layout);

}  // namespace hpl
