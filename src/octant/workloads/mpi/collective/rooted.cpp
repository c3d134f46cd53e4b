// One rank has what all need, or needs what all have; and the barrier, which moves nothing.
#include "octant/mpi_features.hpp"
#include "pattern.hpp"
#include "persistent.hpp"

namespace collective {
namespace {

Layout barrier_layout(Shape const&) { return {}; }

Layout bcast_layout(Shape const& shape) {
    Layout layout{.out = shape.count, .expected = {{0, shape.count, shape.root, shape.root, 0}}};
    if (shape.rank == shape.root) {
        layout.own = layout.expected[0];
        layout.sent = shape.size > 1 ? many(shape.count) : 0;
        layout.read = layout.sent;
    } else {
        layout.written = many(shape.count);
    }
    return layout;
}

// The root has the blocks of all ranks, in rank order.
Layout gathered(Shape const& shape, std::vector<std::size_t> const& counts) {
    std::size_t const mine = counts[place(shape.rank)];
    Layout layout{.in = mine, .sent = many(mine), .read = many(mine)};
    if (shape.rank != shape.root) return layout;
    layout.sent = 0;
    layout.out_counts = counts;
    for (int rank = 0; rank < shape.size; ++rank) {
        layout.expected.push_back({layout.out, counts[place(rank)], rank, rank, 0});
        if (rank == shape.rank && shape.in_place) layout.own = layout.expected.back();
        layout.out += counts[place(rank)];
    }
    layout.written = many(layout.out);
    if (shape.in_place) layout.in = 0, layout.read = 0, layout.written -= many(mine);
    return layout;
}

Layout scattered(Shape const& shape, std::vector<std::size_t> const& counts) {
    std::size_t const mine = counts[place(shape.rank)];
    bool const root = shape.rank == shape.root;
    Layout layout;
    if (root) {
        layout.in = sum(counts);
        layout.in_counts = counts;
        layout.sent = many(layout.in - mine);
        layout.read = shape.in_place ? layout.sent : many(layout.in);
    }
    if (root && shape.in_place) return layout;
    layout.out = mine;
    layout.written = many(mine);
    layout.expected = {{0, mine, shape.root, shape.root, sum_before(counts, place(shape.rank))}};
    return layout;
}

std::vector<std::size_t> equal(Shape const& shape) { return std::vector<std::size_t>(place(shape.size), shape.count); }

}  // namespace

Pattern const barrier{
    .name = "barrier",
    .layout = barrier_layout,
    .run = [](Call const& c) { return MPI_Barrier(c.comm); },
    .start = [](Call const& c, MPI_Request* r) { return MPI_Ibarrier(c.comm, r); },
    .set_up = [](Call const& c, MPI_Request* r) { return persistent::barrier_init(c.comm, MPI_INFO_NULL, r); }};

Pattern const bcast{
    .name = "bcast",
    .layout = bcast_layout,
    .run = [](Call const& c) { return MPI_Bcast(c.out, c.count, c.type, c.root, c.comm); },
    .start = [](Call const& c, MPI_Request* r) { return MPI_Ibcast(c.out, c.count, c.type, c.root, c.comm, r); },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::bcast_init(c.out, c.count, c.type, c.root, c.comm, MPI_INFO_NULL, r);
        },
    .rooted = true};

Pattern const bcast_c{.name = "bcast-c",
                      .layout = bcast_layout,
                      .run =
                          [](Call const& c) {
#if OCTANT_HAS_LARGE_COUNTS
                              return MPI_Bcast_c(c.out, c.large_count, c.type, c.root, c.comm);
#else
                              return MPI_Bcast(c.out, c.count, c.type, c.root, c.comm);  // refused before
#endif
                          },
                      .start = nullptr,
                      .set_up = nullptr,
                      .rooted = true,
                      .large = true};

Pattern const gather{
    .name = "gather",
    .layout = [](Shape const& shape) { return gathered(shape, equal(shape)); },
    .run = [](Call const& c) { return MPI_Gather(c.in, c.count, c.type, c.out, c.count, c.type, c.root, c.comm); },
    .start =
        [](Call const& c, MPI_Request* r) {
            return MPI_Igather(c.in, c.count, c.type, c.out, c.count, c.type, c.root, c.comm, r);
        },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::gather_init(c.in, c.count, c.type, c.out, c.count, c.type, c.root, c.comm, MPI_INFO_NULL,
                                           r);
        },
    .in_place = InPlace::at_root,
    .rooted = true};

Pattern const gatherv{.name = "gatherv",
                      .layout = [](Shape const& shape) { return gathered(shape, shape.counts); },
                      .run =
                          [](Call const& c) {
                              return MPI_Gatherv(c.in, c.count, c.type, c.out, c.out_counts.data(), c.out_at.data(),
                                                 c.type, c.root, c.comm);
                          },
                      .start =
                          [](Call const& c, MPI_Request* r) {
                              return MPI_Igatherv(c.in, c.count, c.type, c.out, c.out_counts.data(), c.out_at.data(),
                                                  c.type, c.root, c.comm, r);
                          },
                      .set_up =
                          [](Call const& c, MPI_Request* r) {
                              return persistent::gatherv_init(c.in, c.count, c.type, c.out, c.out_counts.data(),
                                                              c.out_at.data(), c.type, c.root, c.comm, MPI_INFO_NULL,
                                                              r);
                          },
                      .in_place = InPlace::at_root,
                      .rooted = true,
                      .uneven = true};

Pattern const scatter{
    .name = "scatter",
    .layout = [](Shape const& shape) { return scattered(shape, equal(shape)); },
    .run = [](Call const& c) { return MPI_Scatter(c.in, c.count, c.type, c.out, c.count, c.type, c.root, c.comm); },
    .start =
        [](Call const& c, MPI_Request* r) {
            return MPI_Iscatter(c.in, c.count, c.type, c.out, c.count, c.type, c.root, c.comm, r);
        },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::scatter_init(c.in, c.count, c.type, c.out, c.count, c.type, c.root, c.comm,
                                            MPI_INFO_NULL, r);
        },
    .in_place = InPlace::out_at_root,
    .rooted = true};

Pattern const scatterv{.name = "scatterv",
                       .layout = [](Shape const& shape) { return scattered(shape, shape.counts); },
                       .run =
                           [](Call const& c) {
                               return MPI_Scatterv(c.in, c.in_counts.data(), c.in_at.data(), c.type, c.out, c.count,
                                                   c.type, c.root, c.comm);
                           },
                       .start =
                           [](Call const& c, MPI_Request* r) {
                               return MPI_Iscatterv(c.in, c.in_counts.data(), c.in_at.data(), c.type, c.out, c.count,
                                                    c.type, c.root, c.comm, r);
                           },
                       .set_up =
                           [](Call const& c, MPI_Request* r) {
                               return persistent::scatterv_init(c.in, c.in_counts.data(), c.in_at.data(), c.type, c.out,
                                                                c.count, c.type, c.root, c.comm, MPI_INFO_NULL, r);
                           },
                       .in_place = InPlace::out_at_root,
                       .rooted = true,
                       .uneven = true};

}  // namespace collective
