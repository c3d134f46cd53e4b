// Both sides of every guideline: what a library offers as one call, and what a user could write instead.
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
    std::vector<int> counts, places;  // of the v-forms: `block` each, one behind the other
    MPI_Datatype strided;             // `total` elements, every second one of a buffer
    std::vector<MPI_Request> persistent = {};
};

using Side = void (*)(Data&);

struct Guideline {
    char const* name;
    Side call;     // must not be slower
    Side instead;  // than this
    // The elements of `result` that this rank has afterwards.
    int (*length)(Data const&);
    int least_ranks = 1;
};

[[nodiscard]] std::span<Guideline const> all();
[[nodiscard]] Guideline const& named(std::string const& name);

}  // namespace octant::guidelines
