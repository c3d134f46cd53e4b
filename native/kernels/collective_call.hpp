// The arguments of any collective call, for the library and for Octant's own algorithms over point-to-point messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace octant {

struct Call {
    MPI_Comm comm = MPI_COMM_NULL;
    void const* in = nullptr;   // or MPI_IN_PLACE
    void* out = nullptr;        // MPI_IN_PLACE at the root of a scatter in place; the only buffer of a broadcast
    int count = 0;              // elements of one rank's block or, where ranks reduce, of the vector
    MPI_Count large_count = 0;  // the same for calls that count beyond ints
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    int root = 0;
    // Of calls with a count for each rank: elements to and from each, and at which element each block begins.
    std::span<int const> in_counts = {}, in_at = {}, out_counts = {}, out_at = {};
    // Of calls with a type for each block: the types, and at which byte each block begins.
    std::span<MPI_Datatype const> types = {};
    std::span<MPI_Aint const> in_bytes_at = {}, out_bytes_at = {};
};

// One way to carry out a pattern over point-to-point. `scratch` is allocated, and touched, before anything is timed.
struct Algorithm {
    std::string_view pattern, name;
    bool ordered;                                    // keeps the order of operands that do not commute
    std::size_t (*scratch_bytes)(Call const& call);  // on this rank
    void (*run)(Call const& call, std::span<std::byte> scratch);
    // Leaves in `scratch`, once and before anything is timed, what depends on the ranks alone.
    void (*set_up)(Call const& call, std::span<std::byte> scratch) = nullptr;
    bool power_of_two = false;  // ranks that it needs
};

}  // namespace octant
