// Bytes that this process contributes as a sender to a collective call that has succeeded. Arguments that the standard
// ignores are not read: those of other ranks than the root, and the send arguments with MPI_IN_PLACE.
#pragma once

#include "record.h"

struct octant_shape {
    int size;        // ranks that an element of a vector argument has: of the remote group of an intercommunicator
    int local_size;  // of the own group
    int rank;
    bool is_inter;
};
struct octant_shape octant_find_shape(octant_slot communicator);  // of one without an own entry in the table

static inline struct octant_shape octant_shape(octant_slot communicator, int number) {
    if (OCTANT_UNLIKELY(number >= octant_max_communicators - 1)) return octant_find_shape(communicator);
    struct octant_communicator const* const entry = &octant_communicator_table[number];
    return (struct octant_shape){octant_communicator_size(number), entry->size, entry->rank, entry->kind == 5};
}

// Destinations in the topology of a communicator.
struct octant_destinations {
    int count;         // elements of send arguments
    int existing;      // without MPI_PROC_NULL
    uint64_t missing;  // bit i: destination i is MPI_PROC_NULL
};
struct octant_destinations octant_find_destinations(octant_slot communicator);

static inline bool octant_exists(struct octant_destinations to, int index) {
    return index >= 64 || (to.missing >> index & 1) == 0;
}

static inline uint64_t octant_bytes(uint64_t count, octant_slot datatype) {
    return count == 0 ? 0 : count * octant_type_bytes(datatype);
}

// Arrays of large-count variants have elements of 8 bytes.
static inline uint64_t octant_element(void const* counts, int index, bool large) {
    return large ? (uint64_t)((int64_t const*)counts)[index] : (uint64_t)((int const*)counts)[index];
}

static inline uint64_t octant_sum(void const* counts, int size, bool large) {
    uint64_t sum = 0;
    for (int index = 0; index < size; ++index) sum += octant_element(counts, index, large);
    return sum;
}

static inline uint64_t octant_sum_typed(void const* counts, void const* datatypes, int size, bool large) {
    uint64_t sum = 0;
    for (int index = 0; index < size; ++index) {
        uint64_t const count = octant_element(counts, index, large);
        if (count != 0) sum += count * octant_type_bytes(octant_load_handle(datatypes, index));
    }
    return sum;
}

static inline bool octant_is_root(struct octant_shape shape, int root) {
    return root == (shape.is_inter ? octant_interface.root : shape.rank);
}

// In the group that has no root, every process sends to it, or receives from it.
static inline bool octant_is_leaf(struct octant_shape shape, int root) { return !shape.is_inter || root >= 0; }

static inline uint64_t octant_bytes_bcast(struct octant_shape shape, uint64_t count, octant_slot datatype, int root) {
    return octant_is_root(shape, root) ? octant_bytes(count, datatype) : 0;
}

static inline uint64_t octant_bytes_reduce(struct octant_shape shape, uint64_t count, octant_slot datatype, int root) {
    return octant_is_leaf(shape, root) ? octant_bytes(count, datatype) : 0;
}

static inline uint64_t octant_bytes_gather(struct octant_shape shape, void const* sendbuf, uint64_t sendcount, octant_slot sendtype,
                                           uint64_t recvcount, octant_slot recvtype, int root) {
    if (!octant_is_leaf(shape, root)) return 0;
    bool const in_place = octant_is_root(shape, root) && octant_is_in_place(sendbuf);
    return in_place ? octant_bytes(recvcount, recvtype) : octant_bytes(sendcount, sendtype);
}

static inline uint64_t octant_bytes_gatherv(struct octant_shape shape, void const* sendbuf, uint64_t sendcount, octant_slot sendtype,
                                            void const* recvcounts, octant_slot recvtype, int root, bool large) {
    if (!octant_is_leaf(shape, root)) return 0;
    bool const in_place = octant_is_root(shape, root) && octant_is_in_place(sendbuf);
    if (!in_place) return octant_bytes(sendcount, sendtype);
    return octant_bytes(octant_element(recvcounts, shape.rank, large), recvtype);
}

static inline uint64_t octant_bytes_scatter(struct octant_shape shape, uint64_t sendcount, octant_slot sendtype, int root) {
    return octant_is_root(shape, root) ? octant_bytes(sendcount * (uint64_t)shape.size, sendtype) : 0;
}

static inline uint64_t octant_bytes_scatterv(struct octant_shape shape, void const* sendcounts, octant_slot sendtype, int root, bool large) {
    return octant_is_root(shape, root) ? octant_bytes(octant_sum(sendcounts, shape.size, large), sendtype) : 0;
}

static inline uint64_t octant_bytes_allgather(struct octant_shape shape, uint64_t sendcount, octant_slot sendtype, uint64_t recvcount,
                                              octant_slot recvtype) {
    return shape.is_inter ? octant_bytes(sendcount, sendtype) : octant_bytes(recvcount, recvtype);
}

static inline uint64_t octant_bytes_allgatherv(struct octant_shape shape, uint64_t sendcount, octant_slot sendtype, void const* recvcounts,
                                               octant_slot recvtype, bool large) {
    if (shape.is_inter) return octant_bytes(sendcount, sendtype);
    return octant_bytes(octant_element(recvcounts, shape.rank, large), recvtype);
}

static inline uint64_t octant_bytes_alltoall(struct octant_shape shape, uint64_t sendcount, octant_slot sendtype, uint64_t recvcount,
                                             octant_slot recvtype) {
    uint64_t const size = (uint64_t)shape.size;
    return shape.is_inter ? octant_bytes(sendcount * size, sendtype) : octant_bytes(recvcount * size, recvtype);
}

static inline uint64_t octant_bytes_alltoallv(struct octant_shape shape, void const* sendbuf, void const* sendcounts, octant_slot sendtype,
                                              void const* recvcounts, octant_slot recvtype, bool large) {
    if (octant_is_in_place(sendbuf)) return octant_bytes(octant_sum(recvcounts, shape.size, large), recvtype);
    return octant_bytes(octant_sum(sendcounts, shape.size, large), sendtype);
}

static inline uint64_t octant_bytes_alltoallw(struct octant_shape shape, void const* sendbuf, void const* sendcounts, void const* sendtypes,
                                              void const* recvcounts, void const* recvtypes, bool large) {
    if (octant_is_in_place(sendbuf)) return octant_sum_typed(recvcounts, recvtypes, shape.size, large);
    return octant_sum_typed(sendcounts, sendtypes, shape.size, large);
}

static inline uint64_t octant_bytes_reduce_scatter(struct octant_shape shape, void const* recvcounts, octant_slot datatype, bool large) {
    return octant_bytes(octant_sum(recvcounts, shape.local_size, large), datatype);
}

static inline uint64_t octant_bytes_reduce_scatter_block(struct octant_shape shape, uint64_t recvcount, octant_slot datatype) {
    return octant_bytes(recvcount * (uint64_t)shape.local_size, datatype);
}

// Neighbourhood collectives: the same contribution, or an element of it, to each existing destination.
static inline uint64_t octant_bytes_neighbors(struct octant_destinations to, uint64_t sendcount, octant_slot sendtype) {
    return octant_bytes(sendcount * (uint64_t)to.existing, sendtype);
}

static inline uint64_t octant_bytes_neighborsv(struct octant_destinations to, void const* sendcounts, octant_slot sendtype, bool large) {
    uint64_t sum = 0;
    for (int index = 0; index < to.count; ++index) {
        if (octant_exists(to, index)) sum += octant_element(sendcounts, index, large);
    }
    return octant_bytes(sum, sendtype);
}

static inline uint64_t octant_bytes_neighborsw(struct octant_destinations to, void const* sendcounts, void const* sendtypes, bool large) {
    uint64_t sum = 0;
    for (int index = 0; index < to.count; ++index) {
        if (!octant_exists(to, index)) continue;
        sum += octant_bytes(octant_element(sendcounts, index, large), octant_load_handle(sendtypes, index));
    }
    return sum;
}
