// Command line of octant-mpi-mesh.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace mesh {

struct Options {
    int size = 64;         // cells of a block in each direction
    int fields = 4;        // quantities in each cell
    int steps = 20;        // time steps
    int refine = 5;        // time steps between two refinements
    int sweeps = 1;        // of each step; all compute the same values
    int slow_rank = -1;    // rank with additional sweeps; -1: none
    int slow_factor = 4;   // its sweeps relative to those of the other ranks
    bool by_rank = false;  // print the counts of each rank, too
    bool help = false;
};

// Returns the options; without a value, `problem` is the error message.
std::optional<Options> read_options(std::span<char const* const> words, std::string& problem);

std::string help_text();

}  // namespace mesh
