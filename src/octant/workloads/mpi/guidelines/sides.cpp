#include "sides.hpp"

#include "octant/failure.hpp"

#include <algorithm>

namespace octant::guidelines {
namespace {

MPI_Datatype type() { return MPI_INT32_T; }

int whole(Data const& d) { return d.total; }
int one_block(Data const& d) { return d.block; }
int whole_at_root(Data const& d) { return d.rank == 0 ? d.total : 0; }
int nothing(Data const&) { return 0; }

// The elements that a rank must find; of gathers and all-to-alls block by block.
std::int32_t of_root(Data const&, int i) { return value(0, i); }
std::int32_t sum_of_all(Data const& d, int i) { return sum_until(d.ranks - 1, i); }
std::int32_t sum_so_far(Data const& d, int i) { return sum_until(d.rank, i); }
std::int32_t first_blocks(Data const& d, int i) { return value(i / d.block, i % d.block); }
std::int32_t own_blocks(Data const& d, int i) { return value(i / d.block, d.rank * d.block + i % d.block); }
std::int32_t block_of_root(Data const& d, int i) { return value(0, d.rank * d.block + i); }
std::int32_t every_second(Data const& d, int i) { return value(d.rank - 1, 2 * i); }

std::int32_t const* from(Data& d) { return d.send.data(); }
std::int32_t* to(Data& d) { return d.result.data(); }

// The root's message is its send buffer; broadcasts work in place.
void copy_at_root(Data& d) {
    if (d.rank == 0) std::copy_n(from(d), d.total, to(d));
}
void bcast(Data& d) {
    copy_at_root(d);
    check(MPI_Bcast(to(d), d.total, type(), 0, d.group));
}
void scatter_allgather(Data& d) {
    check(MPI_Scatter(from(d), d.block, type(), d.spare.data(), d.block, type(), 0, d.group));
    check(MPI_Allgather(d.spare.data(), d.block, type(), to(d), d.block, type(), d.group));
}
void bcast_in_four(Data& d) {
    copy_at_root(d);
    for (int part = 0; part < 4; ++part) {
        int const first = static_cast<int>(std::int64_t{d.total} * part / 4);
        int const last = static_cast<int>(std::int64_t{d.total} * (part + 1) / 4);
        check(MPI_Bcast(to(d) + first, last - first, type(), 0, d.group));
    }
}
void ibcast(Data& d) {
    copy_at_root(d);
    MPI_Request request;
    check(MPI_Ibcast(to(d), d.total, type(), 0, d.group, &request));
    check(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
// A binomial tree over point-to-point messages.
void bcast_by_tree(Data& d) {
    copy_at_root(d);
    int distance = 1;
    while (distance < d.ranks) distance *= 2;
    bool has = d.rank == 0;
    for (distance /= 2; distance > 0; distance /= 2) {
        if (has && d.rank % (2 * distance) == 0 && d.rank + distance < d.ranks)
            check(MPI_Send(to(d), d.total, type(), d.rank + distance, 0, d.group));
        if (!has && d.rank % (2 * distance) == distance) {
            check(MPI_Recv(to(d), d.total, type(), d.rank - distance, 0, d.group, MPI_STATUS_IGNORE));
            has = true;
        }
    }
}
void allreduce(Data& d) { check(MPI_Allreduce(from(d), to(d), d.total, type(), MPI_SUM, d.group)); }
void iallreduce(Data& d) {
    MPI_Request request;
    check(MPI_Iallreduce(from(d), to(d), d.total, type(), MPI_SUM, d.group, &request));
    check(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
void reduce_bcast(Data& d) {
    check(MPI_Reduce(from(d), to(d), d.total, type(), MPI_SUM, 0, d.group));
    check(MPI_Bcast(to(d), d.total, type(), 0, d.group));
}
void reduce_scatter_allgather(Data& d) {
    check(MPI_Reduce_scatter_block(from(d), d.spare.data(), d.block, type(), MPI_SUM, d.group));
    check(MPI_Allgather(d.spare.data(), d.block, type(), to(d), d.block, type(), d.group));
}
void reduce(Data& d) { check(MPI_Reduce(from(d), to(d), d.total, type(), MPI_SUM, 0, d.group)); }
void allgather(Data& d) { check(MPI_Allgather(from(d), d.block, type(), to(d), d.block, type(), d.group)); }
void gather_bcast(Data& d) {
    check(MPI_Gather(from(d), d.block, type(), to(d), d.block, type(), 0, d.group));
    check(MPI_Bcast(to(d), d.total, type(), 0, d.group));
}
// Each rank sends its block to all: what an allgather does.
void allgather_by_alltoall(Data& d) {
    for (int rank = 0; rank < d.ranks; ++rank) std::copy_n(from(d), d.block, d.spare.data() + rank * d.block);
    check(MPI_Alltoall(d.spare.data(), d.block, type(), to(d), d.block, type(), d.group));
}
void allgatherv(Data& d) {
    check(MPI_Allgatherv(from(d), d.block, type(), to(d), d.counts.data(), d.places.data(), type(), d.group));
}
void gather(Data& d) { check(MPI_Gather(from(d), d.block, type(), to(d), d.block, type(), 0, d.group)); }
void gatherv(Data& d) {
    check(MPI_Gatherv(from(d), d.block, type(), to(d), d.counts.data(), d.places.data(), type(), 0, d.group));
}
void scatter(Data& d) { check(MPI_Scatter(from(d), d.block, type(), to(d), d.block, type(), 0, d.group)); }
void scatterv(Data& d) {
    check(MPI_Scatterv(from(d), d.counts.data(), d.places.data(), type(), to(d), d.block, type(), 0, d.group));
}
// The whole message to all; each takes its block of it.
void scatter_by_bcast(Data& d) {
    if (d.rank == 0) std::copy_n(from(d), d.total, d.spare.data());
    check(MPI_Bcast(d.spare.data(), d.total, type(), 0, d.group));
    std::copy_n(d.spare.data() + d.rank * d.block, d.block, to(d));
}
void alltoall(Data& d) { check(MPI_Alltoall(from(d), d.block, type(), to(d), d.block, type(), d.group)); }
void alltoallv(Data& d) {
    check(MPI_Alltoallv(from(d), d.counts.data(), d.places.data(), type(), to(d), d.counts.data(), d.places.data(),
                        type(), d.group));
}
void scan(Data& d) { check(MPI_Scan(from(d), to(d), d.total, type(), MPI_SUM, d.group)); }
void exscan_and_add(Data& d) {
    check(MPI_Exscan(from(d), to(d), d.total, type(), MPI_SUM, d.group));
    if (d.rank == 0)
        std::copy_n(from(d), d.total, to(d));
    else
        check(MPI_Reduce_local(from(d), to(d), d.total, type(), MPI_SUM));
}
void barrier(Data& d) { check(MPI_Barrier(d.group)); }
void allreduce_of_one(Data& d) {
    std::int32_t one = 1, sum = 0;
    check(MPI_Allreduce(&one, &sum, 1, type(), MPI_SUM, d.group));
}

// Neighbours in pairs, the even rank sends; of an odd number of ranks the last does nothing.
int partner(Data const& d) { return (d.rank ^ 1) < d.ranks ? d.rank ^ 1 : MPI_PROC_NULL; }
int at_receiver(Data const& d) { return d.rank % 2 == 1 ? d.total : 0; }
void receive(Data& d) {
    if (d.rank % 2 == 1) check(MPI_Recv(to(d), d.total, type(), partner(d), 0, d.group, MPI_STATUS_IGNORE));
}
void send_type(Data& d) {
    if (d.rank % 2 == 0 && partner(d) != MPI_PROC_NULL)
        check(MPI_Send(d.send.data(), 1, d.strided, partner(d), 0, d.group));
    receive(d);
}
void pack_and_send(Data& d) {
    if (d.rank % 2 == 0 && partner(d) != MPI_PROC_NULL) {
        int place = 0;
        int const room = static_cast<int>(d.spare.size() * sizeof(std::int32_t));
        check(MPI_Pack(d.send.data(), 1, d.strided, d.spare.data(), room, &place, d.group));
        check(MPI_Send(d.spare.data(), place, MPI_PACKED, partner(d), 0, d.group));
    }
    receive(d);
}

constexpr Guideline guidelines[] = {
    {"bcast-scatter-allgather", bcast, scatter_allgather, whole, of_root},
    {"bcast-tree", bcast, bcast_by_tree, whole, of_root},
    {"bcast-in-four", bcast, bcast_in_four, whole, of_root},
    {"bcast-nonblocking", bcast, ibcast, whole, of_root},
    {"allreduce-reduce-bcast", allreduce, reduce_bcast, whole, sum_of_all},
    {"allreduce-reduce-scatter-allgather", allreduce, reduce_scatter_allgather, whole, sum_of_all},
    {"allreduce-nonblocking", allreduce, iallreduce, whole, sum_of_all},
    {"reduce-allreduce", reduce, allreduce, whole_at_root, sum_of_all},
    {"allgather-gather-bcast", allgather, gather_bcast, whole, first_blocks},
    {"allgather-alltoall", allgather, allgather_by_alltoall, whole, first_blocks},
    {"allgather-allgatherv", allgather, allgatherv, whole, first_blocks},
    {"gather-allgather", gather, allgather, whole_at_root, first_blocks},
    {"gather-gatherv", gather, gatherv, whole_at_root, first_blocks},
    {"scatter-bcast", scatter, scatter_by_bcast, one_block, block_of_root},
    {"scatter-scatterv", scatter, scatterv, one_block, block_of_root},
    {"alltoall-alltoallv", alltoall, alltoallv, whole, own_blocks},
    {"scan-exscan", scan, exscan_and_add, whole, sum_so_far},
    {"barrier-allreduce", barrier, allreduce_of_one, nothing, of_root},
    {"send-type-pack", send_type, pack_and_send, at_receiver, every_second, 2},
    {"control", bcast, bcast, whole, of_root},
};

}  // namespace

std::span<Guideline const> all() { return guidelines; }

Guideline const& named(std::string const& name) {
    auto const found = std::ranges::find_if(guidelines, [&](Guideline const& one) { return name == one.name; });
    expects(found != std::end(guidelines));  // the knob has checked the choice
    return *found;
}

}  // namespace octant::guidelines
