// Description of a collective operation: its calls, the layout of its buffers, and the expected results.
#pragma once

#include "kernels/collective_call.hpp"
#include "octant/kernel.hpp"

#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace collective {

using octant::Call;

// Elements of a rank's output buffer that are the combination of values of ranks `first` to `last`, in this order:
// out[at + k] = value(first, from + k) op … op value(last, from + k). Where data are only moved, first is last, and
// `from` the place in the sender's input buffer.
struct Block {
    std::size_t at, count;
    int first, last;
    std::size_t from;
};

// The ranks that a rank receives from and sends to, block by block, and which of its blocks each source sends here.
struct Neighbours {
    std::vector<int> sources = {}, targets = {};
    std::vector<std::size_t> sent_as = {};
    std::vector<int> dims = {};  // of a Cartesian grid
};
[[nodiscard]] Neighbours grid_neighbours(int rank, int size);   // Cartesian and periodic in all dimensions
[[nodiscard]] Neighbours graph_neighbours(int rank, int size);  // directed: to the next three, from the last three

struct Shape {  // the request of a rank
    int rank, size, root;
    std::size_t count;                       // elements: of one rank's block or, where ranks reduce, of the vector
    std::vector<std::size_t> const& counts;  // of each rank's block where they differ
    bool in_place;
    Neighbours (*neighbours)(int rank, int size);
};

struct Layout {                          // of one rank, in elements
    std::size_t in = 0, out = 0;         // lengths of the buffers
    std::int64_t sent = 0;               // to other ranks, at least
    std::int64_t read = 0, written = 0;  // of the buffers, at least
    std::vector<Block> expected = {};
    std::optional<Block> own = {};  // position of the input in the output buffer, for in-place calls
    // Of each block, in their order. `in_counts` is empty where no rank receives a part of the input alone.
    std::vector<std::size_t> in_counts = {}, out_counts = {};
};

enum class InPlace { never, everywhere, at_root, out_at_root };  // which rank passes MPI_IN_PLACE, and for which buffer

struct Pattern {
    char const* name;
    Layout (*layout)(Shape const&);
    int (*run)(Call const&);
    int (*start)(Call const&, MPI_Request*);   // nullptr: there is no such call
    int (*set_up)(Call const&, MPI_Request*);  // of a persistent request
    InPlace in_place = InPlace::never;
    bool rooted = false, reduces = false;
    bool divides = false;     // the requested length is that of all blocks together
    bool uneven = false;      // each rank's count is its own
    bool neighbours = false;  // over a topology
    bool by_type = false;     // a type and a place in bytes for each block
    bool large = false;       // counts beyond ints, by a call that not every library has
};

[[nodiscard]] inline std::size_t sum(std::vector<std::size_t> const& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}
[[nodiscard]] inline std::size_t sum_before(std::vector<std::size_t> const& counts, std::size_t end) {
    return std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(end), std::size_t{0});
}
[[nodiscard]] inline std::size_t place(int rank) { return static_cast<std::size_t>(rank); }
[[nodiscard]] inline std::int64_t many(std::size_t count) { return static_cast<std::int64_t>(count); }

extern Pattern const barrier, bcast, bcast_c, allreduce_c, gather, gatherv, scatter, scatterv;
extern Pattern const allgather, allgatherv, alltoall, alltoallv, alltoallw;
extern Pattern const reduce, allreduce, reduce_scatter, reduce_scatter_block, scan, exscan, reduce_local;
extern Pattern const neighbour_allgather, neighbour_allgatherv, neighbour_alltoall, neighbour_alltoallv,
    neighbour_alltoallw;

}  // namespace collective
