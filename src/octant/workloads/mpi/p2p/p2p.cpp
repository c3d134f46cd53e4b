#include "p2p.hpp"

#include <algorithm>
#include <limits>

namespace p2p {
namespace {

constexpr std::size_t line = 64;              // bytes: messages begin on lines of their own
constexpr std::uint8_t untouched = 0xA5;      // of bytes that no message may change
constexpr int passes = 3;                     // the last one at the end of rotating buffers
constexpr std::size_t max_checked = 8 << 20;  // bytes of a window that are compared

// Which of all messages of a verification it is, for the byte pattern.
int iteration(int number, int pass) { return passes * number + pass; }

// Number of messages that fit into the memory of rotating buffers.
std::size_t rounds(octant::Context const& context, std::size_t bytes) {
    return std::max<std::size_t>(2, static_cast<std::size_t>(context.knobs.integer("rotation")) / bytes);
}

}  // namespace

octant::KernelInfo shared_info() {
    using octant::KnobKind;
    return {.knobs = {{"bytes", KnobKind::bytes, "8", "message size", {}, 0, std::int64_t{1} << 34U},
                      {"source",
                       KnobKind::word,
                       "specific",
                       "source argument of receives: the sender, or MPI_ANY_SOURCE",
                       {"specific", "any"}},
                      {"buffers",
                       KnobKind::word,
                       "hot",
                       "hot: the same buffer in each call; rotating: a buffer that is not in the caches",
                       {"hot", "rotating"}},
                      {"rotation", KnobKind::bytes, "64MiB", "memory size of rotating buffers", {}, 4096},
                      {"window",
                       KnobKind::integer,
                       "64",
                       "messages in flight per sender (uniband, biband, duplex, fan-in, fan-out)",
                       {},
                       1,
                       4096},
                      {"parts", KnobKind::integer, "8", "partitions of a message (partitioned)", {}, 1, 4096},
                      {"depth", KnobKind::integer, "100", "queue length (posted, unexpected)", {}, 0, 100'000},
                      {"block",
                       KnobKind::bytes,
                       "8",
                       "block size of the strided layout; stride: two blocks (derived, packed)",
                       {},
                       1}},
            .pace = octant::Pace::steps,
            .sync = octant::Sync::none,
            .min_ranks = 2};
}

octant::Counts counts(octant::Comm const& group, std::int64_t messages, std::int64_t bytes, std::int64_t turns,
                      std::int64_t passed) {
    octant::Counts found = {{"bytes_sent", bytes}, {"messages", messages}};
    if (group.rank() == 0) {
        found.push_back({"turns", turns});
        found.push_back({"bytes_passed", passed});
    }
    return found;
}

Places::Places(octant::Context& context, std::size_t extent, std::size_t room, std::size_t hot)
    : stride_((extent + line - 1) / line * line + line),
      walked_(room == 0 ? 1 : hot * (context.knobs.word("buffers") == "hot" ? 1 : rounds(context, hot * stride_))),
      count_(std::max(walked_, room)),
      memory_(context.buffer<std::uint8_t>(room == 0 ? 1 : count_ * stride_)),
      last_(walked_) {
    std::ranges::fill(memory_.span(), std::uint8_t{1});
}

void Places::narrow(std::size_t count, bool far) noexcept {
    first_ = at_ = far ? count_ - count : 0;
    last_ = first_ + count;
}

void Places::widen() noexcept {
    first_ = at_ = 0;
    last_ = walked_;
}

Shape Messages::one_piece(octant::Context const& context) {
    std::int64_t const bytes = context.knobs.integer("bytes");
    if (bytes > std::numeric_limits<int>::max())
        throw octant::Refusal(
            "cannot send " + std::to_string(bytes) +
                " B in one message of this pattern (its calls count in an int); try pattern=large-count",
            octant::Exit::not_supported);
    auto const length = static_cast<std::size_t>(bytes);
    return {length, length, length};
}

int Messages::checked(octant::Context const& context) {
    Shape const shape = one_piece(context);
    auto const fitting = static_cast<std::int64_t>(max_checked / (shape.bytes + line));
    return static_cast<int>(std::min(context.knobs.integer("window"), std::max<std::int64_t>(2, fitting)));
}

Messages::Messages(octant::Context& context, Room room, Shape shape)
    : shape_(shape),
      rank_(context.group.rank()),
      any_(context.knobs.word("source") == "any"),
      count_(static_cast<int>(shape.bytes)),
      sent_(count_),
      out_(context, shape.extent(), room.out, room.hot_out),
      in_(context, shape.extent(), room.in, room.hot_in) {
    for (Places const* places : {&out_, &in_}) context.watched.push_back(places->mapping().bytes());
}

octant::Results Messages::verify(std::vector<Piece> const& out, std::vector<Piece> const& in,
                                 std::function<void(MPI_Status*)> const& transfer) {
    contents_ = lengths_ = others_ = {};
    std::vector<MPI_Status> statuses(out.size() + in.size() + 1);  // of sends too, where all are waited for together
    if (fault_ == shorter && count_ > 0) sent_ = count_ - 1;
    for (int pass = 0; pass < passes; ++pass) {
        out_.narrow(std::max<std::size_t>(1, out.size()), pass == passes - 1);
        in_.narrow(std::max<std::size_t>(1, in.size()), pass == passes - 1);
        if (pass == 0 || fault_ != stale) fill(out, pass);
        poison(in, pass);
        transfer(statuses.data());
        compare(in, pass, statuses);
    }
    sent_ = count_;
    out_.widen();
    in_.widen();
    return {{"wrong bytes received", contents_.count(), "1", 0, contents_.where()},
            {"messages of wrong length", lengths_.count(), "1", 0, lengths_.where()},
            {"bytes changed outside of messages", others_.count(), "1", 0, others_.where()}};
}

void Messages::fill(std::vector<Piece> const& out, int pass) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        int const number = fault_ == swapped ? out[out.size() - 1 - i].number : out[i].number;
        std::uint8_t* const place = out_[out_.next()];
        for (std::size_t at = 0, block = 0; at < shape_.bytes; at += shape_.block, ++block)
            octant::fill_pattern({place + block * shape_.pitch, std::min(shape_.block, shape_.bytes - at)}, rank_,
                                 iteration(number, pass), at);
    }
}

void Messages::poison(std::vector<Piece> const& in, int pass) {
    for (Piece const& piece : in) {
        std::size_t const place = in_.next();
        std::ranges::fill(in_.whole(place), untouched);
        for (std::size_t at = 0, block = 0; at < shape_.bytes; at += shape_.block, ++block)
            octant::poison({in_[place] + block * shape_.pitch, std::min(shape_.block, shape_.bytes - at)}, piece.rank,
                           iteration(piece.number, pass), at);
    }
}

void Messages::compare(std::vector<Piece> const& in, int pass, std::span<MPI_Status> statuses) {
    for (std::size_t i = 0; i < in.size(); ++i) {
        std::size_t const place = in_.next();
        if (fault_ == flipped && count_ > 0) *in_[place] ^= 1U;
        if (fault_ == beyond) in_[place][std::min(shape_.block, shape_.bytes)] ^= 1U;
        if (fault_ == flipped && count_ == 0) contents_.add("an empty message");
        compare_one(in_[place], in[i], pass);
        compare_unused_bytes(in_.whole(place), in[i]);
        compare_length(in[i], statuses[i]);
    }
}

void Messages::compare_one(std::uint8_t const* place, Piece const& piece, int pass) {
    for (std::size_t at = 0, block = 0; at < shape_.bytes; at += shape_.block, ++block)
        contents_.compare({place + block * shape_.pitch, std::min(shape_.block, shape_.bytes - at)}, rank_, piece.rank,
                          iteration(piece.number, pass), at, shape_.bytes);
}

// Gaps between the blocks, and what lies behind the message.
void Messages::compare_unused_bytes(std::span<std::uint8_t const> place, Piece const& piece) {
    std::size_t const extent = shape_.extent();
    for (std::size_t block = 0, end = 0; end < place.size(); ++block) {
        std::size_t const begin = std::min(extent, block * shape_.pitch + shape_.block);
        end = begin == extent ? place.size() : (block + 1) * shape_.pitch;
        for (std::size_t i = begin; i < end; ++i)
            if (place[i] != untouched)
                others_.add("rank " + std::to_string(rank_) + ", byte " + std::to_string(i - begin) + " behind byte " +
                            std::to_string(std::min(shape_.bytes, (block + 1) * shape_.block)) + " of " +
                            std::to_string(shape_.bytes) + " from rank " + std::to_string(piece.rank));
    }
}

void Messages::compare_length(Piece const& piece, MPI_Status& status) {
    int arrived = -1;
    octant::check(MPI_Get_count(&status, MPI_BYTE, &arrived));
    if (arrived == count_) return;
    lengths_.add("rank " + std::to_string(rank_) + ", " + std::to_string(arrived) + " of " + std::to_string(count_) +
                 " B from rank " + std::to_string(piece.rank));
}

}  // namespace p2p
