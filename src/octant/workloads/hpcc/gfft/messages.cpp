#include "messages.hpp"

#include "copies.hpp"
#include "octant/failure.hpp"

#include <algorithm>
#include <limits>

namespace gfft {
namespace {

using octant::Refusal;

constexpr int tag_of[] = {1, 2, 3};               // chunks between two ranks arrive in their order
constexpr std::int64_t lines_between_tests = 64;  // a few hundred microseconds of 2^10 numbers a line
constexpr std::int64_t depth = 3;                 // chunks under way
constexpr std::int64_t chunk_bytes = std::int64_t{1} << 19, message_bytes = std::int64_t{1} << 16;
constexpr std::int64_t min_chunks = 9;  // three at a time are under way, each in three places: together one vector

}  // namespace

Messages::Messages(Share& share, bool of_node)
    : share_(share),
      reach_(share, of_node, of_node ? share.context.knobs.integer("team") : 1),
      order_(partners(share.context.knobs.word("schedule"), share.rank, share.ranks)),
      library_(share.ranks > 1 && share.context.knobs.word("schedule") == "library"),
      column_chunks_(chunks_of(share.columns, share.plan.rows())),
      row_chunks_(chunks_of(share.rows, share.plan.columns())),
      from_(static_cast<std::size_t>(share.plan.rows())),
      to_(static_cast<std::size_t>(std::max(share.plan.rows(), share.plan.columns()))) {
    if (share.in() > std::numeric_limits<int>::max() || share.out() > std::numeric_limits<int>::max())
        throw Refusal("cannot exchange " + std::to_string(share.in()) +
                      " numbers of a rank (MPI's counts have 32 bits); try more ranks, or transport=shared");
    if (library_) order_.clear();
    share.context.notes.emplace_back(
        "chunks", std::to_string(column_chunks_) + " of columns, " + std::to_string(row_chunks_) + " of rows");
}

// By bytes, unless a number is asked for: what the caches hold, but with many ranks messages that are worth starting.
// So few that each has whole vectors where the whole has.
std::int64_t Messages::chunks_of(Split const& lines, At length) const {
    At const asked = share_.context.knobs.integer("chunks");
    At least = lines.size(0), most = 0;
    for (int rank = 0; rank < share_.ranks; ++rank) {
        least = std::min(least, lines.size(rank));
        most = std::max(most, lines.size(rank));
    }
    At const bytes = most * length * static_cast<At>(sizeof(Number));
    At const chunk = std::clamp(message_bytes * share_.ranks, chunk_bytes, std::max(chunk_bytes, bytes / min_chunks));
    return std::clamp<At>(asked > 0 ? asked : (bytes + chunk - 1) / chunk, 1, least / lines.unit());
}

Messages::Part Messages::part(Split const& of, int rank, At chunk, At chunks) {
    Split const split(of.size(rank), chunks, of.unit());
    return {split.first(chunk), split.size(chunk)};
}

Parcels Messages::parcels(auto const& numbers_of) const {
    Parcels made;
    At at = 0;
    for (int rank = 0; rank < share_.ranks; ++rank) {
        At const numbers = reach_.contains(rank) ? 0 : numbers_of(rank);
        made.at.push_back(static_cast<int>(at));
        made.count.push_back(static_cast<int>(numbers));
        at += numbers;
    }
    return made;
}

// Sent and received data of each chunk, and the buffer space for them.
void Messages::plan_exchanges() {
    int const me = share_.rank;
    At const mine = share_.rows.size(me), width = share_.columns.size(me);
    auto const all = [](Parcels const& of) { return At{of.at.back()} + of.count.back(); };
    At first = 0, second = 0, third = 0, block = 0;
    for (At chunk = 0; chunk < column_chunks_; ++chunk) {
        auto& one = exchanges_[to_columns].emplace_back();
        one.out = parcels([&](int rank) { return mine * columns_of(rank, chunk).size; });
        one.in = parcels([&](int rank) { return share_.rows.size(rank) * columns_of(me, chunk).size; });
        auto& two = exchanges_[to_rows].emplace_back();
        two.out = one.in;  // the same columns, transformed
        two.in = one.out;
        for (int rank = 0; rank < share_.ranks; ++rank)
            two.in.at[static_cast<std::size_t>(rank)] =
                static_cast<int>(mine * (share_.columns.first(rank) + columns_of(rank, chunk).first));
        first = std::max(first, all(one.out));
        second = std::max(second, all(one.in));
    }
    for (At chunk = 0; chunk < row_chunks_; ++chunk) {
        auto& three = exchanges_[to_blocks].emplace_back();
        three.out = parcels([&](int rank) { return share_.columns.size(rank) * rows_of(me, chunk).size; });
        three.in = parcels([&](int rank) { return width * rows_of(rank, chunk).size; });
        third = std::max(third, all(three.out));
        block = std::max(block, all(three.in));
    }
    after_first_ = std::max(first, third);
    after_second_ = after_first_ + std::max(second, block);
    slot_ = after_second_ + second;
}

// On all ranks or on none: a rank that has no room must not leave while others wait for it.
void Messages::make_slots() {
    std::string reason;
    try {
        At const slots = std::min(depth, std::max(column_chunks_, row_chunks_));
        if (slot_ > 0) slots_.emplace(share_.context.buffer<Number>(static_cast<std::size_t>(slots * slot_)));
    } catch (Refusal const& refusal) {
        if (refusal.code() != octant::Exit::not_supported) throw;
        reason = refusal.what();
    }
    octant::Comm const& group = share_.context.group;
    if (group.max(std::int64_t{reason.empty() ? 0 : 1}) > 0)
        for (auto const& text : group.gather(reason))
            if (!text.empty()) throw Refusal(text, octant::Exit::not_supported);
    if (!slots_) return;
    std::ranges::fill(slots_->span(), Number(0));
    share_.context.watched.emplace_back(slots_->mapping().bytes());
}

Number* Messages::slot(At chunk) const { return slots_ ? slots_->data() + chunk % depth * slot_ : nullptr; }

void Messages::set_up() {
    reach_.set_up();
    share_.context.notes.emplace_back("ranks_within_reach", std::to_string(reach_.ranks()));
    plan_exchanges();
    make_slots();
    for (At chunk = 0; chunk < column_chunks_; ++chunk) {
        under_way(to_columns, chunk).out.begin = slot(chunk);
        under_way(to_columns, chunk).in.begin = slot(chunk) + after_first_;
        under_way(to_rows, chunk).out.begin = slot(chunk) + after_second_;
        under_way(to_rows, chunk).in.begin = reach_.mine().work;
    }
    for (At chunk = 0; chunk < row_chunks_; ++chunk) {
        under_way(to_blocks, chunk).out.begin = slot(chunk);
        under_way(to_blocks, chunk).in.begin = slot(chunk) + after_first_;
    }
    // A row between the passes lies in pieces: of a rank within reach one, of others one of each chunk.
    At const mine = share_.rows.size(share_.rank);
    for (int rank = 0; rank < share_.ranks; ++rank) {
        At const chunks = reach_.contains(rank) ? 1 : column_chunks_;
        for (At chunk = 0; chunk < chunks; ++chunk) {
            auto const [first, size] = part(share_.columns, rank, chunk, chunks);
            pieces_.push_back({doubles(reach_.mine().work + mine * (share_.columns.first(rank) + first)), size, size});
        }
    }
    rows_ = pieces_;
}

std::int64_t Messages::bytes_sent() const {
    At numbers = 0;
    for (auto const& exchange : exchanges_)
        for (Exchange const& one : exchange)
            for (int const count : one.out.count) numbers += count;
    return numbers * static_cast<At>(sizeof(Number));
}

std::int64_t Messages::messages() const {
    At found = 0;
    for (auto const& exchange : exchanges_)
        for (Exchange const& one : exchange)
            found += std::ranges::count_if(one.out.count, [](int count) { return count > 0; });
    return library_ ? 0 : found;
}

// The rows of this rank, cut into the columns of each rank out of reach.
void Messages::pack(At chunk) {
    auto const mark = share_.context.phase(copy);
    Parcels const& out = under_way(to_columns, chunk).out;
    At const pitch = share_.plan.columns();
    for (int rank = 0; rank < share_.ranks; ++rank) {
        if (out.numbers(rank) == 0) continue;
        auto const [first, size] = columns_of(rank, chunk);
        copy_rows({out.of(rank), size}, {reach_.mine().x + share_.columns.first(rank) + first, pitch},
                  share_.rows.size(share_.rank), size);
    }
}

// From x where it is within reach, else from what came; to where the row is transformed, or into what goes.
void Messages::columns(At chunk) {
    auto const mark = share_.context.phase(pass_columns);
    int const me = share_.rank;
    auto const [first, size] = columns_of(me, chunk);
    At const pitch = share_.plan.columns(), width = share_.columns.size(me), begin = share_.columns.first(me);
    Parcels const &in = under_way(to_columns, chunk).in, &out = under_way(to_rows, chunk).out;
    for (int rank = 0; rank < share_.ranks; ++rank) {
        At const rows = share_.rows.size(rank), row = share_.rows.first(rank);
        Reach::Vectors const& there = reach_.of(rank);
        bool const near = reach_.contains(rank);
        Number* from = near ? there.x + begin + first : in.of(rank);
        Number* to = near ? there.work + rows * begin + first : out.of(rank);
        for (At k = row; k < row + rows; ++k, from += near ? pitch : size, to += near ? width : size) {
            from_[static_cast<std::size_t>(k)] = doubles(from);
            to_[static_cast<std::size_t>(k)] = doubles(to);
        }
    }
    bool const streams = share_.streaming && share_.columns.whole();
    At const streamed = share_.rows.first(me), end = streams ? share_.rows.first(me + 1) : 0;
    for (At column = 0; column < size; column += lines_between_tests) {
        At const lines = std::min(lines_between_tests, size - column);
        share_.plan.transform_columns(from_.data(), {to_.data(), streamed, end}, begin + first + column, lines,
                                      share_.scratch.data());
        for (auto& one : from_) one += 2 * lines;
        for (auto& one : to_) one += 2 * lines;
        if (chunk + 1 < column_chunks_) under_way(to_columns, chunk + 1).test();
        if (chunk > 0) under_way(to_rows, chunk - 1).test();
    }
}

void Messages::rows(At chunk) {
    auto const mark = share_.context.phase(pass_rows);
    int const me = share_.rank;
    auto const [first, size] = rows_of(me, chunk);
    At const pitch = share_.plan.rows();
    Parcels const& out = under_way(to_blocks, chunk).out;
    for (int rank = 0; rank < share_.ranks; ++rank) {
        At const columns = share_.columns.size(rank), column = share_.columns.first(rank);
        bool const near = reach_.contains(rank);
        Number* to = near ? reach_.of(rank).y + share_.rows.first(me) + first : out.of(rank);
        for (At k = column; k < column + columns; ++k, to += near ? pitch : size)
            to_[static_cast<std::size_t>(k)] = doubles(to);
    }
    for (std::size_t i = 0; i < pieces_.size(); ++i) rows_[i].in = pieces_[i].in + 2 * first * pieces_[i].pitch;
    bool const streams = share_.streaming && share_.rows.whole();
    At const streamed = share_.columns.first(me), end = streams ? share_.columns.first(me + 1) : 0;
    for (At row = 0; row < size; row += lines_between_tests) {
        At const lines = std::min(lines_between_tests, size - row);
        share_.plan.transform_rows(rows_, {to_.data(), streamed, end}, lines, share_.scratch.data());
        for (auto& one : rows_) one.in += 2 * lines * one.pitch;
        for (auto& one : to_) one += 2 * lines;
        if (chunk > 0) under_way(to_blocks, chunk - 1).test();
    }
}

// Moves received rows of the transform to their final position.
void Messages::unpack(At chunk) {
    auto const mark = share_.context.phase(copy);
    Parcels const& in = under_way(to_blocks, chunk).in;
    At const pitch = share_.plan.rows();
    for (int rank = 0; rank < share_.ranks; ++rank) {
        if (in.numbers(rank) == 0) continue;
        auto const [first, size] = rows_of(rank, chunk);
        Rows const to{reach_.mine().y + share_.rows.first(rank) + first, pitch};
        if (share_.streaming && share_.rows.whole())
            stream_rows(to, {in.of(rank), size}, share_.columns.size(share_.rank), size);
        else
            copy_rows(to, {in.of(rank), size}, share_.columns.size(share_.rank), size);
    }
}

void Messages::send(Which which, At chunk) {
    auto const mark = share_.context.phase(exchange);
    under_way(which, chunk).send(share_.context.group, order_, tag_of[which]);
}

void Messages::expect(Which which, At chunk) {
    auto const mark = share_.context.phase(exchange);
    under_way(which, chunk).expect(share_.context.group, order_, tag_of[which]);
}

void Messages::wait(Which which, At chunk) {
    auto const mark = share_.context.phase(exchange);
    under_way(which, chunk).wait();
}

void Messages::start_columns(At chunk) {
    expect(to_columns, chunk);
    pack(chunk);
    send(to_columns, chunk);
}

void Messages::forward() {
    for (At chunk = 0; chunk < std::min(depth - 1, column_chunks_); ++chunk) start_columns(chunk);
    for (At chunk = 0; chunk < column_chunks_; ++chunk) {
        if (chunk + depth - 1 < column_chunks_) start_columns(chunk + depth - 1);
        expect(to_rows, chunk);
        wait(to_columns, chunk);
        if (chunk >= depth) wait(to_rows, chunk - depth);
        columns(chunk);
        send(to_rows, chunk);
    }
    for (At chunk = std::max<At>(0, column_chunks_ - depth); chunk < column_chunks_; ++chunk) wait(to_rows, chunk);
    synchronise();
    for (At chunk = 0; chunk < row_chunks_ + depth - 1; ++chunk) {
        if (chunk < row_chunks_) {
            expect(to_blocks, chunk);
            rows(chunk);
            send(to_blocks, chunk);
        }
        At const before = chunk - (depth - 1);
        if (before < 0 || before >= row_chunks_) continue;
        wait(to_blocks, before);
        unpack(before);
    }
    synchronise();
}

void Messages::synchronise() const {
    auto const mark = share_.context.phase(exchange);
    reach_.synchronise();
}

}  // namespace gfft
