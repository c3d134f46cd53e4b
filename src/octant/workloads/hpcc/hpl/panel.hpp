// A block of columns while it is factorised, and as the processes of a row get it.
#pragma once

#include "layout.hpp"
#include "tiles.hpp"

#include "blas/blas.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace hpl {

// One stretch of memory, so that it is one message: the rows that were chosen as pivots; the block on the diagonal,
// which all processes have; the columns of L below it, of the rows of this row of the grid. Both by columns.
class Panel {
  public:
    [[nodiscard]] static std::int64_t max_numbers(Layout const& layout);

    explicit Panel(Layout const& layout) : layout_(&layout) {}
    void start(std::int64_t first, std::span<double> memory);  // the panel whose first row and column are this one

    [[nodiscard]] std::int64_t first() const { return first_; }
    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] std::int64_t rows() const { return rows_; }
    // Rows of the block on the diagonal among them: all or none of its `width`. They lie first.
    [[nodiscard]] std::int64_t top_rows() const { return top_rows_; }
    [[nodiscard]] std::int64_t leading() const { return leading_; }
    [[nodiscard]] double* pivots() const { return memory_.data(); }
    [[nodiscard]] double* diagonal() const { return memory_.data() + padded_width(); }  // `width` from column to column
    [[nodiscard]] double* below() const { return diagonal() + padded_width() * width_; }
    [[nodiscard]] std::span<double> message() const;
    [[nodiscard]] std::int64_t pivot(int i) const { return static_cast<std::int64_t>(pivots()[i]); }

  private:
    [[nodiscard]] std::int64_t padded_width() const { return (width_ + 7) / 8 * 8; }
    Layout const* layout_;
    std::span<double> memory_;
    std::int64_t first_ = 0, rows_ = 0, top_rows_ = 0, leading_ = 0;
    int width_ = 0;
};

// The choice of a pivot among the processes of a column, with the rows that change places, as one reduction.
class PivotChoice {
  public:
    PivotChoice(Layout const& layout, octant::Comm const& along_column, Sent& sent);
    PivotChoice(PivotChoice const&) = delete;
    PivotChoice& operator=(PivotChoice const&) = delete;
    ~PivotChoice();

    struct Found {
        std::int64_t row;                        // global
        std::span<double const> pivot, current;  // its numbers, and those of the row whose place it takes
    };
    // `mine` is a row of this process: -1 where it has none.
    [[nodiscard]] bool alone() const { return along_column_.size() == 1; }  // all rows are this process's
    Found choose(Panel const& panel, int column, double magnitude, std::int64_t mine);

  private:
    MPI_Datatype type_of(int width);  // what is reduced, as one: made anew only for another width

    Layout const& layout_;
    octant::Comm const& along_column_;
    Sent& sent_;
    MPI_Op op_ = MPI_OP_NULL;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    int width_of_type_ = -1;
    std::vector<double> in_, out_;
};

// Factorises the panel, which `load` filled; collective over the processes of its column.
void factorise(Panel const& panel, octant::blas::Library const& library, Layout const& layout, PivotChoice& choice);
// From and to the rows of the local matrix; of the processes of the panel's column.
void load(Panel const& panel, Layout const& layout, Transposition transpose, double const* matrix);
void store(Panel const& panel, Layout const& layout, Transposition transpose, double* matrix);
[[nodiscard]] Transposition widest_transposition();  // that this processor has

}  // namespace hpl
