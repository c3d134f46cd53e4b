// Every rank's block to all, and every rank's blocks to each.
#include "algorithms.hpp"

#include "octant/failure.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

namespace collective::own {
namespace {

std::size_t nothing(Call const&) { return 0; }
std::size_t all_blocks(Call const& call) {
    Party const p(call);
    return p.bytes(call.count) * static_cast<std::size_t>(p.size);
}

void copy_own_block(Party const& p, Call const& call) {
    if (call.in != MPI_IN_PLACE) p.copy(call.in, p.at(call.out, p.rank * call.count), call.count);
}

void allgather_ring(Call const& call, Bytes) {
    Party const p(call);
    copy_own_block(p, call);
    int const to = (p.rank + 1) % p.size, from = (p.rank - 1 + p.size) % p.size;
    for (int step = 0; step < p.size - 1; ++step) {
        int const out = (p.rank - step + p.size) % p.size, in = (out - 1 + p.size) % p.size;
        p.exchange(p.at(call.out, out * call.count), call.count, to, p.at(call.out, in * call.count), call.count, from);
    }
}

// log2 P exchanges of all that is known so far.
void allgather_recursive_doubling(Call const& call, Bytes) {
    Party const p(call);
    copy_own_block(p, call);
    for (int distance = 1; distance < p.size; distance *= 2) {
        int const other = p.rank ^ distance, mine = p.rank / distance * distance, theirs = other / distance * distance;
        p.exchange(p.at(call.out, mine * call.count), distance * call.count, other, p.at(call.out, theirs * call.count),
                   distance * call.count, other);
    }
}

// ⌈log2 P⌉ steps for any number of ranks: blocks from the own one on, turned into place at the end (Bruck 1997).
void allgather_bruck(Call const& call, Bytes scratch) {
    Party const p(call);
    std::byte* const known = scratch.data();
    p.copy(call.in == MPI_IN_PLACE ? p.at(call.out, p.rank * call.count) : call.in, known, call.count);
    for (int distance = 1; distance < p.size; distance *= 2) {
        int const blocks = std::min(distance, p.size - distance);
        p.exchange(known, blocks * call.count, (p.rank - distance + p.size) % p.size,
                   p.at(known, distance * call.count), blocks * call.count, (p.rank + distance) % p.size);
    }
    int const ahead = p.size - p.rank;  // blocks up to the last rank's
    p.copy(known, p.at(call.out, p.rank * call.count), ahead * call.count);
    p.copy(p.at(known, ahead * call.count), call.out, p.rank * call.count);
}

// The blocks to send: the input, or for in-place calls a copy of it, since received blocks overwrite the input.
std::byte const* blocks_to_send(Party const& p, Call const& call, Bytes scratch) {
    if (call.in != MPI_IN_PLACE) return static_cast<std::byte const*>(call.in);
    p.copy(call.out, scratch.data(), p.size * call.count);
    return scratch.data();
}

// All receives are posted, then all sends, to `partner(step)` in the order of the steps.
template <class Partner>
void alltoall_at_once(Party const& p, Call const& call, Bytes scratch, Partner partner) {
    std::byte const* const in = blocks_to_send(p, call, scratch);
    thread_local std::vector<MPI_Request> requests;  // as many in every step: allocated in the first
    requests.resize(2 * static_cast<std::size_t>(p.size));
    std::size_t next = 0;
    for (int step = 0; step < p.size; ++step) {
        int const from = (p.rank - step + p.size) % p.size;
        check(MPI_Irecv(p.at(call.out, from * call.count), call.count, p.type, from, tag, p.comm, &requests[next++]));
    }
    for (int step = 0; step < p.size; ++step) {
        int const to = partner(step);
        check(MPI_Isend(p.at(in, to * call.count), call.count, p.type, to, tag, p.comm, &requests[next++]));
    }
    check(MPI_Waitall(static_cast<int>(next), requests.data(), MPI_STATUSES_IGNORE));
}

void alltoall_linear(Call const& call, Bytes scratch) {
    Party const p(call);
    alltoall_at_once(p, call, scratch, [&](int step) { return (p.rank + step) % p.size; });
}

// The stride of a task of the Power 775: prime to the number of tasks, and as different from task to task as can be.
int stride_of(int task, int tasks) {
    int prime = 0;
    for (int candidate = 1; candidate <= tasks; ++candidate) prime += std::gcd(candidate, tasks) == 1 ? 1 : 0;
    int left = task % prime;
    for (int candidate = 1;; ++candidate)
        if (std::gcd(candidate, tasks) == 1 && left-- == 0) return candidate;
}

// The stride lies behind the blocks that an alltoall in place needs.
std::size_t stride_scratch(Call const& call) { return all_blocks(call) + sizeof(int); }
void keep_stride(Call const& call, Bytes scratch) {
    Party const p(call);
    int const stride = stride_of(p.rank, p.size);
    std::memcpy(scratch.last(sizeof stride).data(), &stride, sizeof stride);
}
long long kept_stride(Bytes scratch) {
    int stride = 0;
    std::memcpy(&stride, scratch.last(sizeof stride).data(), sizeof stride);
    return stride;
}

// Partner i of task t is (P_t i + t) mod N (The HPC Challenge benchmarks on Power 775, section 4; with the own rank
// added, since else all tasks begin with the same partner).
void alltoall_prime_stride(Call const& call, Bytes scratch) {
    Party const p(call);
    long long const stride = kept_stride(scratch);
    alltoall_at_once(p, call, scratch, [&](int step) { return static_cast<int>((stride * step + p.rank) % p.size); });
}

// As in the paper: P_t i mod N.
void alltoall_prime_stride_from_zero(Call const& call, Bytes scratch) {
    Party const p(call);
    long long const stride = kept_stride(scratch);
    alltoall_at_once(p, call, scratch, [&](int step) { return static_cast<int>(stride * step % p.size); });
}

// Step i sends to rank + i and receives from rank - i; the steps are sequential.
void alltoall_ring(Call const& call, Bytes scratch) {
    Party const p(call);
    std::byte const* const in = blocks_to_send(p, call, scratch);
    p.copy(p.at(in, p.rank * call.count), p.at(call.out, p.rank * call.count), call.count);
    for (int step = 1; step < p.size; ++step) {
        int const to = (p.rank + step) % p.size, from = (p.rank - step + p.size) % p.size;
        p.exchange(p.at(in, to * call.count), call.count, to, p.at(call.out, from * call.count), call.count, from);
    }
}

// The same in pairs: in step i with the rank whose number differs in the bits of i.
void alltoall_pairwise(Call const& call, Bytes scratch) {
    Party const p(call);
    std::byte const* const in = blocks_to_send(p, call, scratch);
    p.copy(p.at(in, p.rank * call.count), p.at(call.out, p.rank * call.count), call.count);
    for (int step = 1; step < p.size; ++step) {
        int const other = p.rank ^ step;
        p.exchange(p.at(in, other * call.count), call.count, other, p.at(call.out, other * call.count), call.count,
                   other);
    }
}

std::size_t bruck_scratch(Call const& call) { return 3 * all_blocks(call); }

// ⌈log2 P⌉ steps: in each, the blocks whose distance has this bit go on by it (Bruck 1997).
void alltoall_bruck(Call const& call, Bytes scratch) {
    Party const p(call);
    std::size_t const whole = all_blocks(call);
    std::byte *const turned = scratch.data(), *const out = turned + whole, *const in = out + whole;
    void const* const from = call.in == MPI_IN_PLACE ? call.out : call.in;
    int const ahead = p.size - p.rank;
    p.copy(p.at(from, p.rank * call.count), turned, ahead * call.count);
    p.copy(from, p.at(turned, ahead * call.count), p.rank * call.count);
    for (int distance = 1; distance < p.size; distance *= 2) {
        int blocks = 0;
        for (int block = distance; block < p.size; ++block)
            if ((block & distance) != 0)
                p.copy(p.at(turned, block * call.count), p.at(out, blocks++ * call.count), call.count);
        p.exchange(out, blocks * call.count, (p.rank + distance) % p.size, in, blocks * call.count,
                   (p.rank - distance + p.size) % p.size);
        blocks = 0;
        for (int block = distance; block < p.size; ++block)
            if ((block & distance) != 0)
                p.copy(p.at(in, blocks++ * call.count), p.at(turned, block * call.count), call.count);
    }
    for (int block = 0; block < p.size; ++block)
        p.copy(p.at(turned, block * call.count), p.at(call.out, (p.rank - block + p.size) % p.size * call.count),
               call.count);
}

constexpr octant::Algorithm table[] = {
    {"allgather", "ring", true, nothing, allgather_ring},
    {"allgather", "recursive-doubling", true, nothing, allgather_recursive_doubling, nullptr, true},
    {"allgather", "bruck", true, all_blocks, allgather_bruck},
    {"alltoall", "linear", true, all_blocks, alltoall_linear},
    {"alltoall", "ring", true, all_blocks, alltoall_ring},
    {"alltoall", "pairwise", true, all_blocks, alltoall_pairwise, nullptr, true},
    {"alltoall", "bruck", true, bruck_scratch, alltoall_bruck},
    {"alltoall", "prime-stride", true, stride_scratch, alltoall_prime_stride, keep_stride},
    {"alltoall", "prime-stride-from-zero", true, stride_scratch, alltoall_prime_stride_from_zero, keep_stride},
};

}  // namespace

std::span<octant::Algorithm const> blocks() { return table; }

}  // namespace collective::own
