// Values of all ranks are combined.
#include "octant/mpi_features.hpp"
#include "pattern.hpp"
#include "persistent.hpp"

namespace collective {
namespace {

// The input is the whole vector of a rank, the output `expected`. For in-place calls the input is in the output buffer,
// which has the same length.
Layout combined(Shape const& shape, std::vector<Block> const& expected, bool in_place) {
    Layout layout{.in = shape.count, .read = many(shape.count), .expected = expected};
    for (Block const& block : expected) {
        layout.out = std::max(layout.out, block.at + block.count);
        layout.written += many(block.count);
    }
    if (in_place) {
        layout.own = Block{0, shape.count, shape.rank, shape.rank, 0};
        layout.out = std::max(layout.out, layout.in);
        layout.in = 0;
    }
    return layout;
}

Layout reduce_layout(Shape const& shape) {
    bool const root = shape.rank == shape.root;
    std::vector<Block> expected;
    if (root) expected = {{0, shape.count, 0, shape.size - 1, 0}};
    Layout layout = combined(shape, expected, root && shape.in_place);
    layout.sent = root ? 0 : many(shape.count);
    return layout;
}

Layout allreduce_layout(Shape const& shape) {
    Layout layout = combined(shape, {{0, shape.count, 0, shape.size - 1, 0}}, shape.in_place);
    layout.sent = shape.size > 1 ? many(shape.count) : 0;
    return layout;
}

Layout scattered(Shape const& shape, std::vector<std::size_t> const& counts) {
    std::size_t const mine = counts[place(shape.rank)];
    Layout layout =
        combined(shape, {{0, mine, 0, shape.size - 1, sum_before(counts, place(shape.rank))}}, shape.in_place);
    layout.in_counts = layout.out_counts = counts;
    layout.sent = many(shape.count - mine);
    return layout;
}

Layout scan_layout(Shape const& shape) {
    Layout layout = combined(shape, {{0, shape.count, 0, shape.rank, 0}}, shape.in_place);
    layout.sent = shape.rank + 1 < shape.size ? many(shape.count) : 0;
    return layout;
}

// The result of the first rank is undefined.
Layout exscan_layout(Shape const& shape) {
    std::vector<Block> expected;
    if (shape.rank > 0) expected = {{0, shape.count, 0, shape.rank - 1, 0}};
    Layout layout = combined(shape, expected, shape.in_place);
    layout.out = std::max(layout.out, shape.count);
    layout.sent = shape.rank + 1 < shape.size ? many(shape.count) : 0;
    return layout;
}

// Without communication: this rank's values, and behind them its own again.
Layout local_layout(Shape const& shape) {
    Block const mine{0, shape.count, shape.rank, shape.rank, 0};
    Layout layout = combined(shape, {{0, shape.count, shape.rank, shape.rank + 1, 0}}, false);
    layout.own = Block{0, shape.count, shape.rank + 1, shape.rank + 1, 0};
    layout.read = 2 * many(mine.count);
    return layout;
}

}  // namespace

Pattern const reduce{
    .name = "reduce",
    .layout = reduce_layout,
    .run = [](Call const& c) { return MPI_Reduce(c.in, c.out, c.count, c.type, c.op, c.root, c.comm); },
    .start = [](Call const& c,
                MPI_Request* r) { return MPI_Ireduce(c.in, c.out, c.count, c.type, c.op, c.root, c.comm, r); },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::reduce_init(c.in, c.out, c.count, c.type, c.op, c.root, c.comm, MPI_INFO_NULL, r);
        },
    .in_place = InPlace::at_root,
    .rooted = true,
    .reduces = true};

Pattern const allreduce{
    .name = "allreduce",
    .layout = allreduce_layout,
    .run = [](Call const& c) { return MPI_Allreduce(c.in, c.out, c.count, c.type, c.op, c.comm); },
    .start = [](Call const& c,
                MPI_Request* r) { return MPI_Iallreduce(c.in, c.out, c.count, c.type, c.op, c.comm, r); },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::allreduce_init(c.in, c.out, c.count, c.type, c.op, c.comm, MPI_INFO_NULL, r);
        },
    .in_place = InPlace::everywhere,
    .reduces = true};

Pattern const allreduce_c{.name = "allreduce-c",
                          .layout = allreduce_layout,
                          .run =
                              [](Call const& c) {
#if OCTANT_HAS_LARGE_COUNTS
                                  return MPI_Allreduce_c(c.in, c.out, c.large_count, c.type, c.op, c.comm);
#else
                                  return MPI_Allreduce(c.in, c.out, c.count, c.type, c.op, c.comm);  // refused before
#endif
                              },
                          .start = nullptr,
                          .set_up = nullptr,
                          .in_place = InPlace::everywhere,
                          .reduces = true,
                          .large = true};

Pattern const reduce_scatter{
    .name = "reduce-scatter",
    .layout = [](Shape const& shape) { return scattered(shape, shape.counts); },
    .run = [](Call const& c) { return MPI_Reduce_scatter(c.in, c.out, c.out_counts.data(), c.type, c.op, c.comm); },
    .start =
        [](Call const& c, MPI_Request* r) {
            return MPI_Ireduce_scatter(c.in, c.out, c.out_counts.data(), c.type, c.op, c.comm, r);
        },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::reduce_scatter_init(c.in, c.out, c.out_counts.data(), c.type, c.op, c.comm,
                                                   MPI_INFO_NULL, r);
        },
    .in_place = InPlace::everywhere,
    .reduces = true,
    .divides = true,
    .uneven = true};

Pattern const reduce_scatter_block{
    .name = "reduce-scatter-block",
    .layout =
        [](Shape const& shape) {
            return scattered(shape, std::vector<std::size_t>(place(shape.size), shape.count / place(shape.size)));
        },
    .run = [](Call const& c) { return MPI_Reduce_scatter_block(c.in, c.out, c.out_counts[0], c.type, c.op, c.comm); },
    .start =
        [](Call const& c, MPI_Request* r) {
            return MPI_Ireduce_scatter_block(c.in, c.out, c.out_counts[0], c.type, c.op, c.comm, r);
        },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::reduce_scatter_block_init(c.in, c.out, c.out_counts[0], c.type, c.op, c.comm,
                                                         MPI_INFO_NULL, r);
        },
    .in_place = InPlace::everywhere,
    .reduces = true,
    .divides = true};

Pattern const scan{
    .name = "scan",
    .layout = scan_layout,
    .run = [](Call const& c) { return MPI_Scan(c.in, c.out, c.count, c.type, c.op, c.comm); },
    .start = [](Call const& c, MPI_Request* r) { return MPI_Iscan(c.in, c.out, c.count, c.type, c.op, c.comm, r); },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::scan_init(c.in, c.out, c.count, c.type, c.op, c.comm, MPI_INFO_NULL, r);
        },
    .in_place = InPlace::everywhere,
    .reduces = true};

Pattern const exscan{
    .name = "exscan",
    .layout = exscan_layout,
    .run = [](Call const& c) { return MPI_Exscan(c.in, c.out, c.count, c.type, c.op, c.comm); },
    .start = [](Call const& c, MPI_Request* r) { return MPI_Iexscan(c.in, c.out, c.count, c.type, c.op, c.comm, r); },
    .set_up =
        [](Call const& c, MPI_Request* r) {
            return persistent::exscan_init(c.in, c.out, c.count, c.type, c.op, c.comm, MPI_INFO_NULL, r);
        },
    .in_place = InPlace::everywhere,
    .reduces = true};

Pattern const reduce_local{.name = "reduce-local",
                           .layout = local_layout,
                           .run = [](Call const& c) { return MPI_Reduce_local(c.in, c.out, c.count, c.type, c.op); },
                           .start = nullptr,
                           .set_up = nullptr,
                           .reduces = true};

}  // namespace collective
