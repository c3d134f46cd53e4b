// Barriers, broadcasts and reductions to one rank.
#include "algorithms.hpp"

#include <algorithm>

namespace collective::own {
namespace {

std::size_t nothing(Call const&) { return 0; }

// ⌈log2 P⌉ rounds: in round k, every rank notifies the rank 2^k above it (Hensgen, Finkel, Manber 1988).
void barrier_dissemination(Call const& call, Bytes) {
    Party const p(call);
    for (int distance = 1; distance < p.size; distance *= 2)
        check(MPI_Sendrecv(nullptr, 0, MPI_BYTE, (p.rank + distance) % p.size, tag, nullptr, 0, MPI_BYTE,
                           (p.rank - distance + p.size) % p.size, tag, p.comm, MPI_STATUS_IGNORE));
}

// Up a binomial tree and down again.
void barrier_tree(Call const& call, Bytes) {
    Party const p(call);
    int distance = 1;
    for (; distance < p.size && p.rank % (2 * distance) == 0; distance *= 2)
        if (p.rank + distance < p.size)
            check(MPI_Recv(nullptr, 0, MPI_BYTE, p.rank + distance, tag, p.comm, MPI_STATUS_IGNORE));
    if (p.rank != 0) {
        check(MPI_Send(nullptr, 0, MPI_BYTE, p.rank - distance, tag, p.comm));
        check(MPI_Recv(nullptr, 0, MPI_BYTE, p.rank - distance, tag, p.comm, MPI_STATUS_IGNORE));
    }
    for (distance /= 2; distance > 0; distance /= 2)
        if (p.rank + distance < p.size) check(MPI_Send(nullptr, 0, MPI_BYTE, p.rank + distance, tag, p.comm));
}

// Ranks counted from the root.
int from_root(Party const& p, int root) { return (p.rank - root + p.size) % p.size; }

void bcast_binomial(Call const& call, Bytes) {
    Party const p(call);
    int const me = from_root(p, call.root);
    int distance = 1;
    for (; distance < p.size && me % (2 * distance) == 0; distance *= 2) {
    }
    if (me != 0) p.receive(call.out, call.count, (p.rank - distance + p.size) % p.size);
    for (distance /= 2; distance > 0; distance /= 2)
        if (me + distance < p.size) p.send(call.out, call.count, (p.rank + distance) % p.size);
}

// A binomial scatter, then a ring in which the parts go round (van de Geijn).
void bcast_scatter_allgather(Call const& call, Bytes) {
    Party const p(call);
    int const me = from_root(p, call.root);
    auto const begin = [&](int part) { return begin_of(part, p.size, call.count); };
    int distance = 1;
    for (; distance < p.size && me % (2 * distance) == 0; distance *= 2) {
    }
    if (me != 0) {  // my part and those of all below me in the tree
        int const end = std::min(me + distance, p.size);
        p.receive(p.at(call.out, begin(me)), begin(end) - begin(me), (p.rank - distance + p.size) % p.size);
    }
    for (distance /= 2; distance > 0; distance /= 2) {
        int const child = me + distance, end = std::min(child + distance, p.size);
        if (child < p.size)
            p.send(p.at(call.out, begin(child)), begin(end) - begin(child), (p.rank + distance) % p.size);
    }
    int const to = (p.rank + 1) % p.size, from = (p.rank - 1 + p.size) % p.size;
    for (int step = 0; step < p.size - 1; ++step) {
        int const out = (me - step + p.size) % p.size, in = (out - 1 + p.size) % p.size;
        p.exchange(p.at(call.out, begin(out)), begin(out + 1) - begin(out), to, p.at(call.out, begin(in)),
                   begin(in + 1) - begin(in), from);
    }
}

constexpr std::size_t segment_bytes = 65536;

// A pipeline of segments from rank to rank: while one goes on, the next arrives.
void bcast_chain(Call const& call, Bytes) {
    Party const p(call);
    int const me = from_root(p, call.root);
    int const each = std::max(1, static_cast<int>(segment_bytes / std::max<std::size_t>(1, p.element)));
    int const from = me == 0 ? MPI_PROC_NULL : (p.rank - 1 + p.size) % p.size;
    int const to = me == p.size - 1 ? MPI_PROC_NULL : (p.rank + 1) % p.size;
    int first = 0, length = std::min(each, call.count);
    p.receive(call.out, length, from);
    while (length > 0) {
        int const next = first + length, more = std::min(each, call.count - next);
        MPI_Request request = MPI_REQUEST_NULL;
        if (more > 0) check(MPI_Irecv(p.at(call.out, next), more, p.type, from, tag, p.comm, &request));
        p.send(p.at(call.out, first), length, to);
        check(MPI_Wait(&request, MPI_STATUS_IGNORE));
        first = next;
        length = more;
    }
}

std::size_t two_vectors(Call const& call) { return 2 * Party(call).bytes(call.count); }

// To rank 0, whose partners hold ranks in a row behind its own, so that operands keep their order; then to the root.
void reduce_binomial(Call const& call, Bytes scratch) {
    Party const p(call);
    bool const in_place = call.in == MPI_IN_PLACE;
    std::byte *const mine = scratch.data(), *const theirs = mine + p.bytes(call.count);
    p.copy(in_place ? call.out : call.in, mine, call.count);
    for (int distance = 1; distance < p.size; distance *= 2) {
        if (p.rank % (2 * distance) != 0) {
            p.send(mine, call.count, p.rank - distance);
            break;
        }
        if (p.rank + distance >= p.size) continue;
        p.receive(theirs, call.count, p.rank + distance);
        p.combine_behind(mine, theirs, call.count, call.op);
    }
    if (p.rank == 0 && call.root != 0) p.send(mine, call.count, call.root);
    if (p.rank != call.root) return;
    if (call.root == 0)
        p.copy(mine, call.out, call.count);
    else
        p.receive(call.out, call.count, 0);
}

constexpr octant::Algorithm table[] = {
    {"barrier", "dissemination", true, nothing, barrier_dissemination},
    {"barrier", "tree", true, nothing, barrier_tree},
    {"bcast", "binomial", true, nothing, bcast_binomial},
    {"bcast", "scatter-allgather", true, nothing, bcast_scatter_allgather},
    {"bcast", "chain", true, nothing, bcast_chain},
    {"reduce", "binomial", true, two_vectors, reduce_binomial},
};

}  // namespace

std::span<octant::Algorithm const> trees() { return table; }

}  // namespace collective::own
