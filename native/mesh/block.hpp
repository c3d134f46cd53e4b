// The block of cells of one rank: explicit diffusion with five points on a periodic mesh. The initial values are an
// eigenvector of the step, so that the exact result is known after any number of steps.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace mesh {

struct Place {
    std::array<int, 2> blocks;  // of the mesh in each direction
    std::array<int, 2> at;      // of this block among them
};

enum class Side { west, east, south, north };
inline constexpr std::array sides{Side::west, Side::east, Side::south, Side::north};

class Block {
  public:
    Block(Place const& place, int size, int fields);

    // Copies the cells at one side into `values`, or `values` into the ghost cells of that side.
    void pack(Side side, std::span<double> values) const;
    void unpack(Side side, std::span<double const> values);

    double sweep();  // computes the next values; returns the largest change of a cell
    void advance();  // the next values become the present ones

    // Part `part` of `parts` of the cells of field 0, in memory order; and the largest error of such a part of any
    // block.
    std::vector<double> part(int part, int parts) const;
    double error_of_part(Place const& place, int part, std::span<double const> values) const;
    double error() const;  // the largest of all cells of this block

  private:
    std::size_t index(int field, int row, int column) const;
    double exact(Place const& place, int field, int row, int column) const;

    Place place_;
    int size_, fields_;
    std::array<std::vector<double>, 2> waves_;  // cosine over the cells of the whole mesh in each direction
    double factor_ = 0.0, decay_ = 1.0;         // of one step, and of all steps so far
    std::vector<double> now_, next_;
};

}  // namespace mesh
