// Each rank has something for every other.
#include "pattern.hpp"
#include "persistent.hpp"

namespace collective {
namespace {

Layout allgathered(Shape const& shape, std::vector<std::size_t> const& counts) {
    std::size_t const mine = counts[place(shape.rank)];
    Layout layout{.in = shape.in_place ? 0 : mine,
                  .sent = shape.size > 1 ? many(mine) : 0,
                  .read = many(mine),
                  .out_counts = counts};
    for (int rank = 0; rank < shape.size; ++rank) {
        layout.expected.push_back({layout.out, counts[place(rank)], rank, rank, 0});
        if (rank == shape.rank && shape.in_place) layout.own = layout.expected.back();
        layout.out += counts[place(rank)];
    }
    layout.written = many(layout.out - (shape.in_place ? mine : 0));
    return layout;
}

// `counts`: elements to each rank, from every rank. In place a rank's blocks to and from another have one length.
Layout exchanged(Shape const& shape, std::vector<std::size_t> const& counts) {
    std::size_t const mine = counts[place(shape.rank)], from = sum_before(counts, place(shape.rank));
    std::vector<std::size_t> const received(counts.size(), mine);
    Layout layout{.in = sum(counts), .in_counts = counts, .out_counts = received};
    layout.sent = many(layout.in - mine);
    for (int rank = 0; rank < shape.size; ++rank) {
        layout.expected.push_back({layout.out, mine, rank, rank, from});
        layout.out += mine;
    }
    layout.read = many(layout.in), layout.written = many(layout.out);
    if (!shape.in_place) return layout;
    layout.own = Block{0, layout.in, shape.rank, shape.rank, 0};
    layout.in = 0;
    layout.read = layout.written = layout.sent;
    return layout;
}

// For in-place calls, each pair exchanges blocks of equal length: the mean of both.
Layout exchanged_uneven(Shape const& shape) {
    if (!shape.in_place) return exchanged(shape, shape.counts);
    auto const length = [&](int one, int other) { return (shape.counts[place(one)] + shape.counts[place(other)]) / 2; };
    Layout layout;
    for (int rank = 0; rank < shape.size; ++rank) {
        std::size_t const count = length(rank, shape.rank);
        std::size_t from = 0;  // where the other rank keeps the block for this one
        for (int before = 0; before < shape.rank; ++before) from += length(rank, before);
        layout.expected.push_back({layout.out, count, rank, rank, from});
        layout.in_counts.push_back(count);
        layout.out += count;
        if (rank != shape.rank) layout.sent += many(count);
    }
    layout.out_counts = layout.in_counts;
    layout.own = Block{0, layout.out, shape.rank, shape.rank, 0};
    layout.read = layout.written = layout.sent;
    return layout;
}

std::vector<std::size_t> equal(Shape const& shape) { return std::vector<std::size_t>(place(shape.size), shape.count); }

}  // namespace

Pattern const allgather{
    .name = "allgather",
    .layout = [](Shape const& shape) { return allgathered(shape, equal(shape)); },
    .run = [](Call const& c) { return MPI_Allgather(c.in, c.count, c.type, c.out, c.count, c.type, c.comm); },
    .start = [](Call const& c,
                MPI_Request* r) { return MPI_Iallgather(c.in, c.count, c.type, c.out, c.count, c.type, c.comm, r); },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::allgather_init(c.in, c.count, c.type, c.out, c.count, c.type, c.comm, MPI_INFO_NULL, r);
        },
    .in_place = InPlace::everywhere};

Pattern const allgatherv{.name = "allgatherv",
                         .layout = [](Shape const& shape) { return allgathered(shape, shape.counts); },
                         .run =
                             [](Call const& c) {
                                 return MPI_Allgatherv(c.in, c.count, c.type, c.out, c.out_counts.data(),
                                                       c.out_at.data(), c.type, c.comm);
                             },
                         .start =
                             [](Call const& c, MPI_Request* r) {
                                 return MPI_Iallgatherv(c.in, c.count, c.type, c.out, c.out_counts.data(),
                                                        c.out_at.data(), c.type, c.comm, r);
                             },
                         .set_up =
                             [](Call const& c, MPI_Request* r) {
                                 return persistent::allgatherv_init(c.in, c.count, c.type, c.out, c.out_counts.data(),
                                                                    c.out_at.data(), c.type, c.comm, MPI_INFO_NULL, r);
                             },
                         .in_place = InPlace::everywhere,
                         .uneven = true};

Pattern const alltoall{
    .name = "alltoall",
    .layout = [](Shape const& shape) { return exchanged(shape, equal(shape)); },
    .run = [](Call const& c) { return MPI_Alltoall(c.in, c.count, c.type, c.out, c.count, c.type, c.comm); },
    .start = [](Call const& c,
                MPI_Request* r) { return MPI_Ialltoall(c.in, c.count, c.type, c.out, c.count, c.type, c.comm, r); },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::alltoall_init(c.in, c.count, c.type, c.out, c.count, c.type, c.comm, MPI_INFO_NULL, r);
        },
    .in_place = InPlace::everywhere};

Pattern const alltoallv{.name = "alltoallv",
                        .layout = exchanged_uneven,
                        .run =
                            [](Call const& c) {
                                return MPI_Alltoallv(c.in, c.in_counts.data(), c.in_at.data(), c.type, c.out,
                                                     c.out_counts.data(), c.out_at.data(), c.type, c.comm);
                            },
                        .start =
                            [](Call const& c, MPI_Request* r) {
                                return MPI_Ialltoallv(c.in, c.in_counts.data(), c.in_at.data(), c.type, c.out,
                                                      c.out_counts.data(), c.out_at.data(), c.type, c.comm, r);
                            },
                        .set_up =
                            [](Call const& c, MPI_Request* r) {
                                return persistent::alltoallv_init(c.in, c.in_counts.data(), c.in_at.data(), c.type,
                                                                  c.out, c.out_counts.data(), c.out_at.data(), c.type,
                                                                  c.comm, MPI_INFO_NULL, r);
                            },
                        .in_place = InPlace::everywhere,
                        .uneven = true};

Pattern const alltoallw{.name = "alltoallw",
                        .layout = exchanged_uneven,
                        .run =
                            [](Call const& c) {
                                return MPI_Alltoallw(c.in, c.in_counts.data(), c.in_at.data(), c.types.data(), c.out,
                                                     c.out_counts.data(), c.out_at.data(), c.types.data(), c.comm);
                            },
                        .start =
                            [](Call const& c, MPI_Request* r) {
                                return MPI_Ialltoallw(c.in, c.in_counts.data(), c.in_at.data(), c.types.data(), c.out,
                                                      c.out_counts.data(), c.out_at.data(), c.types.data(), c.comm, r);
                            },
                        .set_up =
                            [](Call const& c, MPI_Request* r) {
                                return persistent::alltoallw_init(
                                    c.in, c.in_counts.data(), c.in_at.data(), c.types.data(), c.out,
                                    c.out_counts.data(), c.out_at.data(), c.types.data(), c.comm, MPI_INFO_NULL, r);
                            },
                        .in_place = InPlace::everywhere,
                        .uneven = true,
                        .by_type = true};

}  // namespace collective
