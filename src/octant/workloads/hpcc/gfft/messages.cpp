#include "part.hpp"

#include "octant/failure.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace gfft {
namespace {

using octant::check;
using octant::Refusal;

constexpr int tag_columns = 1'000, tag_rows = 2'000, tag_blocks = 3'000;
constexpr std::int64_t lines_between_tests = 64;  // a few hundred microseconds of 2^10 numbers a line

double* doubles(Number* numbers) { return reinterpret_cast<double*>(numbers); }

// As many equal chunks as were asked for, or fewer, so that each has whole vectors where the whole has.
std::int64_t chunks_of(std::int64_t lines, std::int64_t asked) {
    std::int64_t const unit = lines % octant::fft::most_lanes == 0 ? octant::fft::most_lanes : 1;
    std::int64_t chunks = std::min(asked, lines / unit);
    while (lines / unit % chunks != 0) --chunks;
    return chunks;
}

// Prime to the number of ranks, and as different from rank to rank as can be.
int stride_of(int rank, int ranks) {
    std::vector<int> strides;
    for (int candidate = 1; candidate <= ranks; ++candidate)
        if (std::gcd(candidate, ranks) == 1) strides.push_back(candidate);
    return strides[static_cast<std::size_t>(rank) % strides.size()];
}

}  // namespace

std::vector<int> partners(std::string const& schedule, int rank, int ranks) {
    if (schedule == "xor" && !std::has_single_bit(static_cast<unsigned>(ranks)))
        throw Refusal("cannot use schedule=xor with " + std::to_string(ranks) +
                      " ranks (no power of two); try schedule=ring");
    std::vector<int> found;
    std::int64_t const stride = schedule == "prime" ? stride_of(rank, ranks) : 1;
    for (int step = 1; step < ranks; ++step)
        found.push_back(schedule == "xor" ? rank ^ step : static_cast<int>((rank + stride * step) % ranks));
    return found;
}

void Exchange::start(octant::Comm const& group, std::vector<int> const& order, int tag, Pieces pieces) {
    auto const piece = static_cast<int>(pieces.piece);
    int const me = group.rank();
    if (order.empty() && group.size() > 1) {
        counts_.assign(static_cast<std::size_t>(group.size()), piece);
        from_.clear();
        to_.clear();
        for (int rank = 0; rank < group.size(); ++rank) {
            to_.push_back(rank * piece);
            from_.push_back(static_cast<int>(rank * pieces.apart));
        }
        check(MPI_Ialltoallv(pieces.send, counts_.data(), to_.data(), MPI_C_DOUBLE_COMPLEX, pieces.receive,
                             counts_.data(), from_.data(), MPI_C_DOUBLE_COMPLEX, group.get(),
                             &requests_.emplace_back()));
        return;
    }
    for (auto at = order.rbegin(); at != order.rend(); ++at)
        check(MPI_Irecv(pieces.receive + *at * pieces.apart, piece, MPI_C_DOUBLE_COMPLEX, *at, tag, group.get(),
                        &requests_.emplace_back()));
    for (int const to : order)
        check(MPI_Isend(pieces.send + to * pieces.piece, piece, MPI_C_DOUBLE_COMPLEX, to, tag, group.get(),
                        &requests_.emplace_back()));
    if (pieces.own) std::copy_n(pieces.send + me * pieces.piece, pieces.piece, pieces.receive + me * pieces.apart);
}

void Exchange::test() {
    if (requests_.empty()) return;
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE));
    if (done != 0) requests_.clear();
}

void Exchange::wait() {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    requests_.clear();
}

Messages::Messages(Share& share)
    : share_(share),
      order_(partners(share.context.knobs.word("schedule"), share.rank, share.ranks)),
      library_(share.ranks > 1 && share.context.knobs.word("schedule") == "library"),
      width_(share.columns() / chunks_of(share.columns(), share.context.knobs.integer("chunks"))),
      column_chunks_(share.columns() / width_),
      height_(share.rows() / chunks_of(share.rows(), share.context.knobs.integer("chunks"))),
      row_chunks_(share.rows() / height_),
      x_(share.context.buffer<Number>(share.size())),
      y_(share.context.buffer<Number>(share.size())),
      a_(share.context.buffer<Number>(share.size())),
      b_(share.context.buffer<Number>(share.size())),
      c_(share.context.buffer<Number>(share.size())),
      to_columns_(static_cast<std::size_t>(column_chunks_)),
      to_rows_(static_cast<std::size_t>(column_chunks_)),
      to_blocks_(static_cast<std::size_t>(row_chunks_)) {
    if (share.each() > std::numeric_limits<int>::max())
        throw Refusal("cannot exchange " + std::to_string(share.each()) +
                      " numbers of a rank (MPI's counts have 32 bits); try more ranks, or transport=shared");
    if (library_) order_.clear();
    for (auto const* buffer : {&x_, &y_, &a_, &b_, &c_}) {
        std::ranges::fill(buffer->span(), Number(0));
        share.context.watched.emplace_back(buffer->mapping().bytes());
    }
    share.context.notes.emplace_back("chunks", std::to_string(column_chunks_) + " of " + std::to_string(width_) +
                                                   " columns, " + std::to_string(row_chunks_) + " of " +
                                                   std::to_string(height_) + " rows");
}

std::int64_t Messages::bytes_sent() const {
    return 3 * static_cast<std::int64_t>(sizeof(Number)) * (share_.each() - share_.each() / share_.ranks);
}
std::int64_t Messages::messages() const {
    return library_ ? 0 : (2 * column_chunks_ + row_chunks_) * (share_.ranks - 1);
}

// The rows of this rank, cut into the columns of each: for rank t rows() x width_ numbers; its own where it reads them.
void Messages::pack(std::int64_t chunk) {
    auto const mark = share_.context.phase(copy);
    std::int64_t const piece = share_.rows() * width_, size = share_.plan.rows() * width_;
    for (int rank = 0; rank < share_.ranks; ++rank) {
        bool const stays = rank == share_.rank && !library_;
        Number* to = in_chunk(stays ? b_ : a_, chunk, size) + rank * piece;
        for (std::int64_t row = 0; row < share_.rows(); ++row, to += width_)
            std::copy_n(x_.data() + row * share_.plan.columns() + rank * share_.columns() + chunk * width_, width_, to);
    }
}

// What came is a matrix of all rows and width_ columns; what goes is one, too, in which the rows of a rank are a piece.
void Messages::columns(std::int64_t chunk) {
    auto const mark = share_.context.phase(pass_columns);
    std::int64_t const size = share_.plan.rows() * width_;
    auto const at = static_cast<std::size_t>(chunk);
    for (std::int64_t column = 0; column < width_; column += lines_between_tests) {
        std::int64_t const lines = std::min(lines_between_tests, width_ - column);
        share_.plan.transform_columns(
            {doubles(in_chunk(b_, chunk, size) + column), width_, doubles(in_chunk(a_, chunk, size) + column), width_},
            share_.rank * share_.columns() + chunk * width_ + column, lines, share_.streaming, share_.scratch.data());
        if (at + 1 < to_columns_.size()) to_columns_[at + 1].test();
        if (at > 0) to_rows_[at - 1].test();
    }
}

void Messages::send_columns(std::int64_t chunk) {
    std::int64_t const piece = share_.rows() * width_;
    to_rows_[static_cast<std::size_t>(chunk)].start(
        share_.context.group, order_, tag_rows + static_cast<int>(chunk),
        {in_chunk(a_, chunk, share_.plan.rows() * width_), c_.data() + chunk * piece, piece, column_chunks_ * piece});
}

// A row lies in pieces of width_ numbers: of each rank, one of each chunk.
void Messages::rows(std::int64_t chunk) {
    auto const mark = share_.context.phase(pass_rows);
    auto const at = static_cast<std::size_t>(chunk);
    Number* const to = in_chunk(b_, chunk, share_.plan.columns() * height_);
    for (std::int64_t row = 0; row < height_; row += lines_between_tests) {
        std::int64_t const lines = std::min(lines_between_tests, height_ - row);
        share_.plan.transform_rows(
            {doubles(c_.data() + (chunk * height_ + row) * width_), width_, doubles(to + row), height_}, lines,
            {width_, share_.rows() * width_}, share_.streaming, share_.scratch.data());
        if (at > 0) to_blocks_[at - 1].test();
    }
}

void Messages::unpack(std::int64_t chunk) {
    auto const mark = share_.context.phase(copy);
    std::int64_t const piece = share_.columns() * height_, size = share_.plan.columns() * height_;
    for (int rank = 0; rank < share_.ranks; ++rank) {
        bool const stayed = rank == share_.rank && !library_;
        Number const* from = in_chunk(stayed ? b_ : a_, chunk, size) + rank * piece;
        for (std::int64_t k = 0; k < share_.columns(); ++k, from += height_)
            std::copy_n(from, height_, y_.data() + k * share_.plan.rows() + rank * share_.rows() + chunk * height_);
    }
}

void Messages::wait(Exchange& of) {
    auto const mark = share_.context.phase(exchange);
    of.wait();
}

void Messages::forward() {
    octant::Comm const& group = share_.context.group;
    auto const send_packed = [&](std::int64_t chunk) {
        pack(chunk);
        auto const mark = share_.context.phase(exchange);
        std::int64_t const size = share_.plan.rows() * width_, piece = share_.rows() * width_;
        to_columns_[static_cast<std::size_t>(chunk)].start(
            group, order_, tag_columns + static_cast<int>(chunk),
            {in_chunk(a_, chunk, size), in_chunk(b_, chunk, size), piece, piece, false});
    };
    send_packed(0);
    for (std::int64_t chunk = 0; chunk < column_chunks_; ++chunk) {
        if (chunk + 1 < column_chunks_) send_packed(chunk + 1);
        wait(to_columns_[static_cast<std::size_t>(chunk)]);
        columns(chunk);
        auto const mark = share_.context.phase(exchange);
        send_columns(chunk);
    }
    for (auto& one : to_rows_) wait(one);
    for (std::int64_t chunk = 0; chunk < row_chunks_; ++chunk) {
        rows(chunk);
        {
            auto const mark = share_.context.phase(exchange);
            std::int64_t const size = share_.plan.columns() * height_, piece = share_.columns() * height_;
            to_blocks_[static_cast<std::size_t>(chunk)].start(
                group, order_, tag_blocks + static_cast<int>(chunk),
                {in_chunk(b_, chunk, size), in_chunk(a_, chunk, size), piece, piece, false});
        }
        if (chunk == 0) continue;
        wait(to_blocks_[static_cast<std::size_t>(chunk - 1)]);
        unpack(chunk - 1);
    }
    wait(to_blocks_.back());
    unpack(row_chunks_ - 1);
}

}  // namespace gfft
