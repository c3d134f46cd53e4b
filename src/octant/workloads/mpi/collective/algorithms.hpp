// Textbook algorithms for collective operations, over point-to-point messages. Names are those of `octant model
// collective`; costs are in R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations
// in MPICH", IJHPCA 2005.
#pragma once

#include "kernels/collective_call.hpp"
#include "octant/mpi.hpp"

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace collective::own {

using octant::Call;
using octant::check;
using Bytes = std::span<std::byte>;

inline constexpr int tag = 9;

// Rank, number of ranks and element size of a call, which all algorithms need.
struct Party {
    explicit Party(Call const& call) : comm(call.comm), type(call.type) {
        check(MPI_Comm_rank(comm, &rank));
        check(MPI_Comm_size(comm, &size));
        if (type == MPI_DATATYPE_NULL) return;
        MPI_Aint low = 0, extent = 0;
        check(MPI_Type_get_extent(type, &low, &extent));
        element = static_cast<std::size_t>(extent);
    }
    [[nodiscard]] std::size_t bytes(int elements) const { return element * static_cast<std::size_t>(elements); }
    [[nodiscard]] std::byte* at(void* buffer, int elements) const {
        return static_cast<std::byte*>(buffer) + bytes(elements);
    }
    [[nodiscard]] std::byte const* at(void const* buffer, int elements) const {
        return static_cast<std::byte const*>(buffer) + bytes(elements);
    }
    void copy(void const* from, void* to, int elements) const {
        if (elements > 0 && from != to) std::memcpy(to, from, bytes(elements));
    }
    void send(void const* buffer, int elements, int to) const {
        check(MPI_Send(buffer, elements, type, to, tag, comm));
    }
    void receive(void* buffer, int elements, int from) const {
        check(MPI_Recv(buffer, elements, type, from, tag, comm, MPI_STATUS_IGNORE));
    }
    void exchange(void const* out, int out_elements, int to, void* in, int in_elements, int from) const {
        check(
            MPI_Sendrecv(out, out_elements, type, to, tag, in, in_elements, type, from, tag, comm, MPI_STATUS_IGNORE));
    }
    // mine = theirs op mine, in this order of operands.
    void combine_before(void const* theirs, void* mine, int elements, MPI_Op op) const {
        if (elements > 0) check(MPI_Reduce_local(theirs, mine, elements, type, op));
    }
    // mine = mine op theirs; `theirs` is of no use afterwards.
    void combine_behind(void* mine, void* theirs, int elements, MPI_Op op) const {
        if (elements <= 0) return;
        check(MPI_Reduce_local(mine, theirs, elements, type, op));
        copy(theirs, mine, elements);
    }

    MPI_Comm comm;
    MPI_Datatype type;
    int rank = 0, size = 1;
    std::size_t element = 0;
};

// The largest power of two that is not above `size`.
[[nodiscard]] constexpr int power_below(int size) {
    int power = 1;
    while (2 * power <= size) power *= 2;
    return power;
}

// Begin of part `part` of `parts` if `elements` are divided as evenly as possible.
[[nodiscard]] constexpr int begin_of(int part, int parts, int elements) {
    return static_cast<int>(static_cast<long long>(elements) * part / parts);
}

[[nodiscard]] std::span<octant::Algorithm const> trees();       // barrier, bcast, reduce
[[nodiscard]] std::span<octant::Algorithm const> reductions();  // allreduce, reduce-scatter-block
[[nodiscard]] std::span<octant::Algorithm const> blocks();      // allgather, alltoall

}  // namespace collective::own
