// Which rank has which part of the matrices, and which parts of A every rank sends to which other one.
#pragma once

#include "kernels/block_cyclic.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptrans {

struct Place {  // of a rank on the grid
    int row = 0, column = 0;
};

struct Grid {
    int rows = 1, columns = 1;

    // "PxQ" for P Q ranks, or "auto": the squarest, with P at most Q. Throws Refusal: no such text, another number.
    [[nodiscard]] static Grid parse(std::string const& text, int ranks);
    [[nodiscard]] int ranks() const noexcept { return rows * columns; }
    [[nodiscard]] Place place(int number) const noexcept { return {number / columns, number % columns}; }
    [[nodiscard]] int number(Place at) const noexcept { return at.row * columns + at.column; }
    [[nodiscard]] std::string text() const { return std::to_string(rows).append("x").append(std::to_string(columns)); }
};

struct Layout {  // of A and of C: blocks of rows and columns are dealt out to the rows and columns of the grid
    octant::BlockCyclic rows, columns;

    Layout(std::int64_t n, std::int64_t block, Grid grid)
        : rows{n, block, grid.rows}, columns{n, block, grid.columns} {}
    [[nodiscard]] std::int64_t n() const noexcept { return rows.n; }
    [[nodiscard]] std::int64_t height(Place at) const noexcept { return rows.count(at.row); }
    [[nodiscard]] std::int64_t width(Place at) const noexcept { return columns.count(at.column); }
    [[nodiscard]] std::int64_t elements(Place at) const noexcept { return height(at) * width(at); }
};

struct Piece {                // of a row or column of tiles
    std::int64_t in_c, in_a;  // where it begins in the local parts
    std::int64_t length;
};

struct Tile {  // rows of C are columns of A
    Piece rows_of_c, columns_of_c;
};

// What one place of the grid gets of A from another, in tiles; both sides number them alike, down the columns of A.
class Share {
  public:
    // `edge`: no side of a tile is longer; `bytes`: of a parcel, which has at least one tile.
    Share(Layout const& layout, Place from, Place to, std::int64_t edge, std::int64_t bytes);

    [[nodiscard]] Tile tile(std::int64_t number) const noexcept {
        auto const across = static_cast<std::int64_t>(columns_.size());
        return {rows_[static_cast<std::size_t>(number / across)], columns_[static_cast<std::size_t>(number % across)]};
    }
    // Tiles [first(parcel), first(parcel + 1)) travel together.
    [[nodiscard]] std::int64_t first(std::int64_t parcel) const noexcept {
        return parcel * in_parcel_ < tiles_ ? parcel * in_parcel_ : tiles_;
    }
    [[nodiscard]] std::int64_t parcels() const noexcept { return (tiles_ + in_parcel_ - 1) / in_parcel_; }
    [[nodiscard]] std::int64_t elements(std::int64_t parcel) const noexcept;
    [[nodiscard]] std::int64_t max_elements() const noexcept { return in_parcel_ * largest_; }  // of a parcel

  private:
    std::vector<Piece> rows_, columns_;  // of C
    std::int64_t tiles_ = 0, largest_ = 0, in_parcel_ = 1;
};

// Elements of the largest parcel between any two places. The cost grows with lcm(P, Q), not with the pairs of places.
[[nodiscard]] std::int64_t max_in_a_parcel(Layout const& layout, std::int64_t edge, std::int64_t bytes);

struct Partners {
    int to, from;  // numbers of places
};

// All places that exchange with `at`, each as often as the shape of the grid requires. In each round of the schedule,
// every place sends to one place and receives from one place.
[[nodiscard]] std::vector<Partners> schedule(Grid grid, Place at);

}  // namespace ptrans
