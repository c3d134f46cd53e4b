// Comparison of the results of each rank with the expected values, element by element.
#include "collective.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace collective {
namespace {

constexpr std::size_t line_bytes = 64;  // behind each buffer, where nothing may be written
constexpr std::byte untouched{0xA5};

std::string sender_of(Block const& block, std::size_t k) {
    if (block.first == block.last)
        return "element " + std::to_string(block.from + k) + " of rank " + std::to_string(block.first);
    return "of ranks " + std::to_string(block.first) + " to " + std::to_string(block.last);
}

}  // namespace

// The parts of a block that are compared: all of it, or of a long block both ends, the middle, and the position where
// an int overflows. They depend only on the length of the block, so that sender and receiver choose the same parts.
std::vector<Block> Collective::checked_parts(Block const& block) const {
    std::size_t const bytes = contents_.bytes(), piece = max_whole_ / 1024 / bytes, beyond_int = 2 * max_whole_;
    if (block.count * bytes <= max_whole_) return {block};
    std::vector<Block> pieces;
    for (std::size_t const middle : {std::size_t{0}, block.count / 2, beyond_int / bytes, beyond_int, block.count}) {
        if (middle > block.count) continue;
        std::size_t const first = std::min(std::max(middle, piece / 2) - piece / 2, block.count - piece);
        pieces.push_back({block.at + first, piece, block.first, block.last, block.from + first});
    }
    return pieces;
}

// Fills the input of a rank. If other ranks receive parts of it, each block is filled for its receiver.
void Collective::fill_input(std::byte* to, Block const& input, std::vector<std::size_t> const& counts, int pass) const {
    std::size_t begin = 0;
    for (std::size_t const count : counts.empty() ? std::vector<std::size_t>{input.count} : counts) {
        Block const block{input.at + begin, count, input.first, input.last, input.from + begin};
        for (Block const& piece : checked_parts(block)) contents_.fill(to + piece.at * contents_.bytes(), piece, pass);
        begin += count;
    }
}

void Collective::compare(Layout const& layout, std::byte const* out, int pass, octant::Mismatch& found) const {
    for (Block const& block : layout.expected)
        for (Block const& piece : checked_parts(block)) compare_piece(piece, layout.out, out, pass, found);
    std::byte const* const end = out + layout.out * contents_.bytes();
    if (std::any_of(end, end + line_bytes, [](std::byte byte) { return byte != untouched; }))
        found.add("rank " + std::to_string(group_.rank()) + ", beyond element " + std::to_string(layout.out));
}

// Little by little, so that what is expected needs no memory as large as the message.
void Collective::compare_piece(Block const& piece, std::size_t length, std::byte const* out, int pass,
                               octant::Mismatch& found) const {
    constexpr std::size_t at_once = 4096;
    std::size_t const bytes = contents_.bytes();
    std::vector<std::byte> wanted(std::min(at_once, piece.count) * bytes);
    for (std::size_t done = 0; done < piece.count; done += at_once) {
        Block const part{piece.at + done, std::min(at_once, piece.count - done), piece.first, piece.last,
                         piece.from + done};
        contents_.fill(wanted.data(), part, pass);
        for (std::size_t k = 0; k < part.count; ++k) {
            std::byte const* const here = out + (part.at + k) * bytes;
            if (std::equal(here, here + bytes, wanted.data() + k * bytes)) continue;
            found.add(found.count() > 0
                          ? ""
                          : "rank " + std::to_string(group_.rank()) + ", element " + std::to_string(part.at + k) +
                                " of " + std::to_string(length) + ", " + sender_of(part, k));
        }
    }
}

// No byte is what it should become, and those behind the buffer are known.
void Collective::poison(Layout const& layout, std::byte* out, int pass) const {
    std::size_t const bytes = contents_.bytes();
    for (Block const& block : layout.expected)
        for (Block const& piece : checked_parts(block)) {
            std::byte* const to = out + piece.at * bytes;
            contents_.fill(to, piece, pass);
            std::transform(to, to + piece.count * bytes, to, [](std::byte byte) { return ~byte; });
        }
    std::fill_n(out + layout.out * bytes, line_bytes, untouched);
    if (layout.own) fill_input(out, *layout.own, layout.in_counts, pass);
}

void Collective::spoil(Layout const& layout, std::byte* out, int pass) const {
    for (Block const& expected : layout.expected)
        for (Block block : checked_parts(expected)) {
            if (spoilt_ == Spoilt::without_last) block.last -= 1;
            if (spoilt_ == Spoilt::other_block) block.from += expected.count;
            if (spoilt_ == Spoilt::only_first) block.first = block.last = 0;
            std::byte* const to = out + block.at * contents_.bytes();
            if (block.last >= block.first)
                contents_.fill(to, block, pass, spoilt_ == Spoilt::reversed);
            else  // nothing arrives
                std::transform(to, to + block.count * contents_.bytes(), to, [](std::byte byte) { return ~byte; });
        }
}

// Buffers, roots and contents differ between passes, and where both exist the call in place and the other one.
void Collective::check_pass(int pass, octant::Mismatch& found, std::int64_t& compared) {
    bool const other_form = pass % 2 == 1 && call_form_ != CallForm::persistent && may_be_in_place();
    bool const in_place = in_place_ != other_form;
    std::int64_t const turn = pass == 2 ? turns() - 1 : pass * calls() % turns();
    std::size_t const slot = static_cast<std::size_t>(turn) % slots_;
    Layout const wanted = layout(root_of(turn), in_place);
    std::byte *const in = in_.data() + slot * in_stride_, *const out = out_.data() + slot * out_stride_;
    int const rank = group_.rank();
    if (wanted.in > 0) fill_input(in, {0, wanted.in, rank, rank, 0}, wanted.in_counts, pass);
    poison(wanted, out, pass);

    choose(turn);
    Lists const made = lists(wanted);
    if (call_form_ != CallForm::persistent) call_ = call_of(made, turn, in_place);
    execute_run();
    if (spoilt_ != Spoilt::not_at_all) spoil(wanted, out, pass);
    compare(wanted, out, pass, found);
    for (Block const& block : wanted.expected) compared += many(block.count);
}

// Checks that no rank leaves before the last rank has entered. Just before it enters, the last rank sends a synchronous
// message to the others; each must have received it when it leaves.
void Collective::check_barrier(octant::Mismatch& found) {
    constexpr int passes = 3, tag = 77, tries = 20;
    constexpr auto late = std::chrono::milliseconds(3);
    for (int pass = 0; pass < passes; ++pass) {
        int const last = pass == 1 ? group_.size() - 1 : pass % group_.size();
        bool const am_last = group_.rank() == last;
        choose(pass % turns());
        MPI_Request entered = MPI_REQUEST_NULL;
        if (!am_last) octant::check(MPI_Irecv(nullptr, 0, MPI_BYTE, last, tag, group_.get(), &entered));
        group_.dissemination_barrier();
        if (am_last) std::this_thread::sleep_for(late);
        for (int rank = 0; am_last && rank < group_.size(); ++rank)
            if (rank != last) octant::check(MPI_Ssend(nullptr, 0, MPI_BYTE, rank, tag, group_.get()));
        if (spoilt_ == Spoilt::not_at_all) execute_run();
        int done = am_last ? 1 : 0;
        for (int i = 0; i < tries && done == 0; ++i) octant::check(MPI_Test(&entered, &done, MPI_STATUS_IGNORE));
        if (done == 0 || (spoilt_ != Spoilt::not_at_all && group_.size() == 1))
            found.add("rank " + std::to_string(group_.rank()) + " left before rank " + std::to_string(last) +
                      " had entered");
        octant::check(MPI_Wait(&entered, MPI_STATUS_IGNORE));
    }
}

octant::Results Collective::verify() {
    octant::Mismatch found;
    if (&pattern_ == &barrier) {
        check_barrier(found);
        return {{"ranks that left before the last had entered", found.count(), "1", 0, found.where()}};
    }
    std::int64_t compared = 0;
    bool const takes_seconds = std::max(in_stride_, out_stride_) > max_whole_;
    int const passes = group_.max(std::int64_t{takes_seconds}) > 0 ? 1 : 3;  // one number for all: buffers may differ
    for (int pass = 0; pass < passes; ++pass) check_pass(pass, found, compared);
    if (spoilt_ != Spoilt::not_at_all && group_.max(compared) == 0) found.add("nothing to compare");
    return {{"wrong elements", found.count(), "1", 0, found.where()}};
}

}  // namespace collective
