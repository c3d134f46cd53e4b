// The rows that a panel's pivots move: into the rows of U, which all processes of a column get, and out of their way.
#pragma once

#include "layout.hpp"
#include "panel.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace hpl {

// All interchanges of a panel as one permutation: sources of the rows at the top, and where rows of the top end up
// below. Rows below get rows of the top alone, since an interchange takes a row of the top that none moved before, or
// one that came from a place above it at the top.
struct Moves {
    struct Down {
        std::int64_t to;  // global row below the top
        int from;         // row of the top
    };
    std::vector<std::int64_t> sources;  // global rows, of each row of the top
    std::vector<Down> down;

    explicit Moves(Panel const& panel);
};

// What moves rows between the processes of a column; `scratch` has room for what all of
// them send, at most two panels' rows, and for what this one does, at most as much.
class Exchange {
  public:
    Exchange(Layout const& layout, octant::Comm const& along_column, std::span<double> scratch, Sent& sent)
        : layout_(layout), along_column_(along_column), scratch_(scratch), sent_(sent) {}
    [[nodiscard]] static std::int64_t scratch_numbers(Layout const& layout, int processes);

    // Of the local columns [begin, end): the rows that become those of U to `u` (`leading` from one to the next), the
    // others to their places in the matrix. Collective over the processes of the column.
    void move(Panel const& panel, Moves const& moves, std::int64_t begin, std::int64_t end, double* matrix, double* u,
              std::int64_t leading);

  private:
    void move_local_rows(Panel const& panel, Moves const& moves, std::int64_t begin, std::int64_t count, double* matrix,
                         double* u, std::int64_t leading);
    [[nodiscard]] double* row(double* matrix, std::int64_t global) const {
        return matrix + layout_.rows.local(global) * layout_.leading;
    }
    Layout const& layout_;
    octant::Comm const& along_column_;
    std::span<double> scratch_;
    Sent& sent_;
};

}  // namespace hpl
