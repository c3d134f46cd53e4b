// What each rank must find, compared element by element with what it found.
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

void Collective::compare(Layout const& layout, std::byte const* out, std::byte const* wanted,
                         octant::Mismatch& found) const {
    std::size_t const bytes = contents_.bytes();
    for (Block const& block : layout.expected)
        for (std::size_t k = 0; k < block.count; ++k) {
            std::size_t const at = (block.at + k) * bytes;
            if (std::equal(out + at, out + at + bytes, wanted + at)) continue;
            found.add(found.count() > 0
                          ? ""
                          : "rank " + std::to_string(group_.rank()) + ", element " + std::to_string(block.at + k) +
                                " of " + std::to_string(layout.out) + ", " + sender_of(block, k));
        }
    std::byte const* const end = out + layout.out * bytes;
    if (std::any_of(end, end + line_bytes, [](std::byte byte) { return byte != untouched; }))
        found.add("rank " + std::to_string(group_.rank()) + ", beyond element " + std::to_string(layout.out));
}

void Collective::spoil(Layout const& layout, std::byte* out, int pass) const {
    for (Block block : layout.expected) {
        if (spoilt_ == Spoilt::without_last) block.last -= 1;
        if (spoilt_ == Spoilt::other_block) block.from += block.count;
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
    bool const other_form = pass % 2 == 1 && how_ != How::persistent && may_be_in_place();
    bool const in_place = in_place_ != other_form;
    std::int64_t const turn = pass == 2 ? turns() - 1 : pass * calls() % turns();
    std::size_t const slot = static_cast<std::size_t>(turn) % slots_;
    Layout const wanted = layout(root_of(turn), in_place);
    std::byte *const in = in_.data() + slot * in_stride_, *const out = out_.data() + slot * out_stride_;
    int const rank = group_.rank();
    contents_.fill(in, {0, wanted.in, rank, rank, 0}, pass);
    std::vector<std::byte> right(wanted.out * contents_.bytes(), untouched);
    for (Block const& block : wanted.expected) contents_.fill(right.data() + block.at * contents_.bytes(), block, pass);
    // No byte is what it should become.
    std::ranges::transform(right, out, [](std::byte byte) { return ~byte; });
    std::fill_n(out + right.size(), line_bytes, untouched);
    if (wanted.own) contents_.fill(out + wanted.own->at * contents_.bytes(), *wanted.own, pass);

    choose(turn);
    Lists const made = lists(wanted);
    if (how_ != How::persistent) call_ = call_of(made, turn, in_place);
    carry_out();
    if (spoilt_ != Spoilt::not_at_all) spoil(wanted, out, pass);
    compare(wanted, out, right.data(), found);
    for (Block const& block : wanted.expected) compared += many(block.count);
}

// Nobody leaves before the last has entered. The last one tells the others when it is about to enter, by messages that
// are complete only once they are received: who leaves must have got one.
void Collective::check_barrier(octant::Mismatch& found) {
    constexpr int passes = 3, tag = 77, tries = 20;
    constexpr auto late = std::chrono::milliseconds(3);
    for (int pass = 0; pass < passes; ++pass) {
        int const last = pass == 1 ? group_.size() - 1 : pass % group_.size();
        bool const am_last = group_.rank() == last;
        choose(pass % turns());
        MPI_Request told = MPI_REQUEST_NULL;
        if (!am_last) octant::check(MPI_Irecv(nullptr, 0, MPI_BYTE, last, tag, group_.get(), &told));
        group_.dissemination_barrier();
        if (am_last) std::this_thread::sleep_for(late);
        for (int rank = 0; am_last && rank < group_.size(); ++rank)
            if (rank != last) octant::check(MPI_Ssend(nullptr, 0, MPI_BYTE, rank, tag, group_.get()));
        if (spoilt_ == Spoilt::not_at_all) carry_out();
        int done = am_last ? 1 : 0;
        for (int i = 0; i < tries && done == 0; ++i) octant::check(MPI_Test(&told, &done, MPI_STATUS_IGNORE));
        if (done == 0 || (spoilt_ != Spoilt::not_at_all && group_.size() == 1))
            found.add("rank " + std::to_string(group_.rank()) + " left before rank " + std::to_string(last) +
                      " had entered");
        octant::check(MPI_Wait(&told, MPI_STATUS_IGNORE));
    }
}

octant::Results Collective::verify() {
    octant::Mismatch found;
    if (&pattern_ == &barrier) {
        check_barrier(found);
        return {{"ranks that left before the last had entered", found.count(), "1", 0, found.where()}};
    }
    std::int64_t compared = 0;
    for (int pass = 0; pass < 3; ++pass) check_pass(pass, found, compared);
    if (spoilt_ != Spoilt::not_at_all && group_.max(compared) == 0) found.add("nothing to compare");
    return {{"elements that are not as they should be", found.count(), "1", 0, found.where()}};
}

}  // namespace collective
