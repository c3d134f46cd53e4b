// Ranks exchange with their neighbours in a topology.
#include "pattern.hpp"
#include "persistent.hpp"

#include <algorithm>
#include <array>

namespace collective {
namespace {

constexpr int max_dims = 3, max_targets = 3;

// Uses as many dimensions as possible with at least three ranks each: libraries differ if both neighbours are one rank.
std::vector<int> dims_of(int size) {
    for (int dims = max_dims; dims > 1; --dims) {
        std::vector<int> lengths(static_cast<std::size_t>(dims), 0);
        octant::check(MPI_Dims_create(size, dims, lengths.data()));
        if (std::ranges::min(lengths) > 2) return lengths;
    }
    return {size};
}

// `to_each`: a block for each target, else one for all of them. `counts`: of a block, by the rank it is of.
Layout exchanged(Shape const& shape, std::vector<std::size_t> const& counts, bool to_each) {
    Neighbours const mine = shape.neighbours(shape.rank, shape.size);
    Layout layout;
    for (int const target : mine.targets) {
        std::size_t const count = counts[place(to_each ? target : shape.rank)];
        if (to_each) layout.in_counts.push_back(count);
        layout.in += count;
        if (target != shape.rank) layout.sent += many(count);
    }
    if (!to_each) layout.in = counts[place(shape.rank)];
    for (std::size_t slot = 0; slot < mine.sources.size(); ++slot) {
        int const source = mine.sources[slot];
        std::size_t const count = counts[place(to_each ? shape.rank : source)];
        std::size_t from = 0;
        if (to_each) {
            auto const theirs = shape.neighbours(source, shape.size).targets;
            for (std::size_t i = 0; i < mine.sent_as[slot]; ++i) from += counts[place(theirs[i])];
        }
        layout.expected.push_back({layout.out, count, source, source, from});
        layout.out_counts.push_back(count);
        layout.out += count;
    }
    layout.read = many(layout.in), layout.written = many(layout.out);
    return layout;
}

Layout broadcast_layout(Shape const& shape) {
    return exchanged(shape, std::vector<std::size_t>(place(shape.size), shape.count), false);
}

Layout scatter_layout(Shape const& shape) {
    return exchanged(shape, std::vector<std::size_t>(place(shape.size), shape.count), true);
}

}  // namespace

Neighbours grid_neighbours(int rank, int size) {
    Neighbours found{.dims = dims_of(size)};
    int stride = size;
    for (std::size_t dim = 0; dim < found.dims.size(); ++dim) {
        int const length = found.dims[dim];
        stride /= length;
        int const at = rank / stride % length;
        for (int const step : {length - 1, 1}) {
            int const there = rank + ((at + step) % length - at) * stride;
            found.sources.push_back(there);
            found.targets.push_back(there);
        }
        found.sent_as.push_back(2 * dim + 1);  // what comes from below was sent upwards
        found.sent_as.push_back(2 * dim);
    }
    return found;
}

Neighbours graph_neighbours(int rank, int size) {
    Neighbours found;
    for (int step = 1; step <= std::clamp(size - 1, 1, max_targets); ++step) {
        found.targets.push_back((rank + step) % size);
        found.sources.push_back((rank + size - step % size) % size);
        found.sent_as.push_back(found.sent_as.size());
    }
    return found;
}

Pattern const neighbour_allgather{
    .name = "neighbour-allgather",
    .layout = broadcast_layout,
    .run = [](Call const& c) { return MPI_Neighbor_allgather(c.in, c.count, c.type, c.out, c.count, c.type, c.comm); },
    .start =
        [](Call const& c, MPI_Request* r) {
            return MPI_Ineighbor_allgather(c.in, c.count, c.type, c.out, c.count, c.type, c.comm, r);
        },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::neighbor_allgather_init(c.in, c.count, c.type, c.out, c.count, c.type, c.comm,
                                                       MPI_INFO_NULL, r);
        },
    .neighbours = true};

Pattern const neighbour_allgatherv{
    .name = "neighbour-allgatherv",
    .layout = [](Shape const& shape) { return exchanged(shape, shape.counts, false); },
    .run =
        [](Call const& c) {
            return MPI_Neighbor_allgatherv(c.in, c.count, c.type, c.out, c.out_counts.data(), c.out_at.data(), c.type,
                                           c.comm);
        },
    .start =
        [](Call const& c, MPI_Request* r) {
            return MPI_Ineighbor_allgatherv(c.in, c.count, c.type, c.out, c.out_counts.data(), c.out_at.data(), c.type,
                                            c.comm, r);
        },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::neighbor_allgatherv_init(c.in, c.count, c.type, c.out, c.out_counts.data(),
                                                        c.out_at.data(), c.type, c.comm, MPI_INFO_NULL, r);
        },
    .uneven = true,
    .neighbours = true};

Pattern const neighbour_alltoall{
    .name = "neighbour-alltoall",
    .layout = scatter_layout,
    .run = [](Call const& c) { return MPI_Neighbor_alltoall(c.in, c.count, c.type, c.out, c.count, c.type, c.comm); },
    .start =
        [](Call const& c, MPI_Request* r) {
            return MPI_Ineighbor_alltoall(c.in, c.count, c.type, c.out, c.count, c.type, c.comm, r);
        },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::neighbor_alltoall_init(c.in, c.count, c.type, c.out, c.count, c.type, c.comm,
                                                      MPI_INFO_NULL, r);
        },
    .neighbours = true};

Pattern const neighbour_alltoallv{
    .name = "neighbour-alltoallv",
    .layout = [](Shape const& shape) { return exchanged(shape, shape.counts, true); },
    .run =
        [](Call const& c) {
            return MPI_Neighbor_alltoallv(c.in, c.in_counts.data(), c.in_at.data(), c.type, c.out, c.out_counts.data(),
                                          c.out_at.data(), c.type, c.comm);
        },
    .start =
        [](Call const& c, MPI_Request* r) {
            return MPI_Ineighbor_alltoallv(c.in, c.in_counts.data(), c.in_at.data(), c.type, c.out, c.out_counts.data(),
                                           c.out_at.data(), c.type, c.comm, r);
        },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::neighbor_alltoallv_init(c.in, c.in_counts.data(), c.in_at.data(), c.type, c.out,
                                                       c.out_counts.data(), c.out_at.data(), c.type, c.comm,
                                                       MPI_INFO_NULL, r);
        },
    .uneven = true,
    .neighbours = true};

Pattern const neighbour_alltoallw{
    .name = "neighbour-alltoallw",
    .layout = [](Shape const& shape) { return exchanged(shape, shape.counts, true); },
    .run =
        [](Call const& c) {
            return MPI_Neighbor_alltoallw(c.in, c.in_counts.data(), c.in_bytes_at.data(), c.types.data(), c.out,
                                          c.out_counts.data(), c.out_bytes_at.data(), c.types.data(), c.comm);
        },
    .start =
        [](Call const& c, MPI_Request* r) {
            return MPI_Ineighbor_alltoallw(c.in, c.in_counts.data(), c.in_bytes_at.data(), c.types.data(), c.out,
                                           c.out_counts.data(), c.out_bytes_at.data(), c.types.data(), c.comm, r);
        },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::neighbor_alltoallw_init(c.in, c.in_counts.data(), c.in_bytes_at.data(), c.types.data(),
                                                       c.out, c.out_counts.data(), c.out_bytes_at.data(),
                                                       c.types.data(), c.comm, MPI_INFO_NULL, r);
        },
    .uneven = true,
    .neighbours = true,
    .by_type = true};

}  // namespace collective
