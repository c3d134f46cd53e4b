// Both sides of every guideline: a call of the library, and an equivalent combination of other calls.
#pragma once

#include "octant/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace octant::guidelines {

// Buffers of 32-bit integers. A block is what goes to, or comes from, one rank; all blocks together are the message.
struct Data {
    MPI_Comm group;
    int rank, ranks;
    int block;  // elements
    int total;  // block * ranks
    Buffer<std::int32_t> send, result, spare;
    std::vector<int> counts, places;  // of the v-variants: `block` elements each, contiguous
    MPI_Datatype strided;             // `total` elements, every second one of a buffer
    std::vector<MPI_Request> persistent = {};
};

// Elements that a rank sends. Sums over ranks are exact and differ from the elements of any rank.
[[nodiscard]] constexpr std::int32_t value(int rank, int index) { return (rank + 1) * 1000 + index % 997; }
[[nodiscard]] constexpr std::int32_t sum_until(int last, int index) {
    std::int64_t const ranks = last + 1;
    return static_cast<std::int32_t>(1000 * ranks * (ranks + 1) / 2 + ranks * (index % 997));
}
static_assert(sum_until(2, 998) == value(0, 998) + value(1, 998) + value(2, 998));

using Side = void (*)(Data&);

struct Guideline {
    char const* name;
    Side call;  // must not be slower
    Side alternative;
    // The elements of `result` that this rank has afterwards.
    int (*length)(Data const&);
    std::int32_t (*wanted)(Data const&, int index);  // each of these
    int min_ranks = 1;
};

[[nodiscard]] std::span<Guideline const> all();
[[nodiscard]] Guideline const& named(std::string const& name);

}  // namespace octant::guidelines
