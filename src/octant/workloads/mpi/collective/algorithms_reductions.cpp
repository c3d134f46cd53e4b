// Reductions whose result all ranks have, or each a part of it.
#include "algorithms.hpp"

#include <algorithm>

namespace collective::own {
namespace {

std::size_t one_vector(Call const& call) { return Party(call).bytes(call.count); }
std::size_t whole_and_block(Call const& call) {
    Party const p(call);
    return p.bytes(call.out_counts[0]) * static_cast<std::size_t>(p.size + 1);
}

void copy_input(Party const& p, Call const& call) {
    if (call.in != MPI_IN_PLACE) p.copy(call.in, call.out, call.count);
}

// Where ranks are no power of two: of the first 2r ranks, in neighbouring pairs, the odd ones take over what the even
// ones have, so that those who are left hold ranks in a row, in order.
struct Folded {
    Folded(Party const& party, Call const& call, void* theirs) : p(party), power(power_below(p.size)) {
        int const left_over = p.size - power;
        if (p.rank < 2 * left_over) {
            if (p.rank % 2 == 0) {
                p.send(call.out, call.count, p.rank + 1);
                return;
            }
            p.receive(theirs, call.count, p.rank - 1);
            p.combine_before(theirs, call.out, call.count, call.op);
            number = p.rank / 2;
        } else {
            number = p.rank - left_over;
        }
    }
    // The rank of one who is left, by its number.
    [[nodiscard]] int rank_of(int other) const {
        int const left_over = p.size - power;
        return other < left_over ? 2 * other + 1 : other + left_over;
    }
    // Those who were left out get the result.
    void unfold(Call const& call) const {
        if (p.rank >= 2 * (p.size - power)) return;
        if (number < 0)
            p.receive(call.out, call.count, p.rank + 1);
        else
            p.send(call.out, call.count, p.rank - 1);
    }

    Party const& p;
    int power, number = -1;  // -1: left out
};

// log2 P exchanges of the whole vector with partners 1, 2, 4, … away.
void allreduce_recursive_doubling(Call const& call, Bytes scratch) {
    Party const p(call);
    copy_input(p, call);
    Folded const folded(p, call, scratch.data());
    for (int distance = 1; folded.number >= 0 && distance < folded.power; distance *= 2) {
        int const other = folded.number ^ distance, rank = folded.rank_of(other);
        p.exchange(call.out, call.count, rank, scratch.data(), call.count, rank);
        if (other < folded.number)
            p.combine_before(scratch.data(), call.out, call.count, call.op);
        else
            p.combine_behind(call.out, scratch.data(), call.count, call.op);
    }
    folded.unfold(call);
}

// The parts go round twice: while they are combined, and again when they are whole. Operands change their order.
void allreduce_ring(Call const& call, Bytes scratch) {
    Party const p(call);
    copy_input(p, call);
    auto const begin = [&](int part) { return begin_of(part, p.size, call.count); };
    int const to = (p.rank + 1) % p.size, from = (p.rank - 1 + p.size) % p.size;
    for (int step = 0; step < 2 * (p.size - 1); ++step) {
        int const out = ((p.rank - step) % p.size + p.size) % p.size, in = (out - 1 + p.size) % p.size;
        bool const combines = step < p.size - 1;
        int const length = begin(in + 1) - begin(in);
        std::byte* const target = p.at(call.out, begin(in));
        p.exchange(p.at(call.out, begin(out)), begin(out + 1) - begin(out), to, combines ? scratch.data() : target,
                   length, from);
        if (combines) p.combine_before(scratch.data(), target, length, call.op);
    }
}

// Halving: in each step the half that the partner keeps is sent and the half that is kept is combined; then the halves
// come back the same way. Operands change their order (Rabenseifner 2004).
void allreduce_rabenseifner(Call const& call, Bytes scratch) {
    Party const p(call);
    copy_input(p, call);
    Folded const folded(p, call, scratch.data());
    if (folded.number >= 0) {
        auto const begin = [&](int part) { return begin_of(part, folded.power, call.count); };
        int first = 0, last = folded.power;  // the parts that I still combine
        for (int distance = folded.power / 2; distance > 0; distance /= 2) {
            int const middle = (first + last) / 2, rank = folded.rank_of(folded.number ^ distance);
            bool const lower = folded.number < middle;
            auto const [keep, keep_end] = lower ? std::pair(first, middle) : std::pair(middle, last);
            auto const [give, give_end] = lower ? std::pair(middle, last) : std::pair(first, middle);
            int const length = begin(keep_end) - begin(keep);
            p.exchange(p.at(call.out, begin(give)), begin(give_end) - begin(give), rank, scratch.data(), length, rank);
            p.combine_before(scratch.data(), p.at(call.out, begin(keep)), length, call.op);
            first = keep;
            last = keep_end;
        }
        for (int distance = 1; distance < folded.power; distance *= 2) {
            int const other = folded.number ^ distance, rank = folded.rank_of(other);
            int const theirs = other / distance * distance, mine = folded.number / distance * distance;
            p.exchange(p.at(call.out, begin(mine)), begin(mine + distance) - begin(mine), rank,
                       p.at(call.out, begin(theirs)), begin(theirs + distance) - begin(theirs), rank);
        }
    }
    folded.unfold(call);
}

// Reduction to rank 0 along a binomial tree, and broadcast along the same tree.
void allreduce_binomial(Call const& call, Bytes scratch) {
    Party const p(call);
    copy_input(p, call);
    int distance = 1;
    for (; distance < p.size && p.rank % (2 * distance) == 0; distance *= 2) {
        if (p.rank + distance >= p.size) continue;
        p.receive(scratch.data(), call.count, p.rank + distance);
        p.combine_behind(call.out, scratch.data(), call.count, call.op);
    }
    if (p.rank != 0) {
        p.send(call.out, call.count, p.rank - distance);
        p.receive(call.out, call.count, p.rank - distance);
    }
    for (distance /= 2; distance > 0; distance /= 2)
        if (p.rank + distance < p.size) p.send(call.out, call.count, p.rank + distance);
}

// Each rank's own copy of the input, which an operation in place may not lose before it is sent.
std::byte* input_of(Party const& p, Call const& call, Bytes scratch) {
    p.copy(call.in == MPI_IN_PLACE ? call.out : call.in, scratch.data(), p.size * call.out_counts[0]);
    return scratch.data();
}

// A block goes once round and is combined on its way to the rank that keeps it. Operands change their order.
void reduce_scatter_ring(Call const& call, Bytes scratch) {
    Party const p(call);
    int const block = call.out_counts[0];
    std::byte *const mine = input_of(p, call, scratch), *const theirs =
                                                            mine + p.bytes(block) * static_cast<std::size_t>(p.size);
    int const to = (p.rank + 1) % p.size, from = (p.rank - 1 + p.size) % p.size;
    for (int step = 1; step < p.size; ++step) {
        int const out = (p.rank - step + p.size) % p.size, in = (out - 1 + p.size) % p.size;
        p.exchange(p.at(mine, out * block), block, to, theirs, block, from);
        p.combine_before(theirs, p.at(mine, in * block), block, call.op);
    }
    p.copy(p.at(mine, p.rank * block), call.out, block);
}

// Each rank sends every other the block that it keeps, a partner after the other. Operands change their order.
void reduce_scatter_pairwise(Call const& call, Bytes scratch) {
    Party const p(call);
    int const block = call.out_counts[0];
    std::byte *const mine = input_of(p, call, scratch), *const theirs =
                                                            mine + p.bytes(block) * static_cast<std::size_t>(p.size);
    for (int step = 1; step < p.size; ++step) {
        int const to = (p.rank + step) % p.size, from = (p.rank - step + p.size) % p.size;
        p.exchange(p.at(mine, to * block), block, to, theirs, block, from);
        p.combine_before(theirs, p.at(mine, p.rank * block), block, call.op);
    }
    p.copy(p.at(mine, p.rank * block), call.out, block);
}

constexpr octant::Algorithm table[] = {
    {"allreduce", "recursive-doubling", true, one_vector, allreduce_recursive_doubling},
    {"allreduce", "ring", false, one_vector, allreduce_ring},
    {"allreduce", "rabenseifner", false, one_vector, allreduce_rabenseifner},
    {"allreduce", "binomial", true, one_vector, allreduce_binomial},
    {"reduce-scatter-block", "ring", false, whole_and_block, reduce_scatter_ring},
    {"reduce-scatter-block", "pairwise", false, whole_and_block, reduce_scatter_pairwise},
};

}  // namespace

std::span<octant::Algorithm const> reductions() { return table; }

}  // namespace collective::own
