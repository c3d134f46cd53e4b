#include "transfers.hpp"

#include "octant/failure.hpp"

#include <algorithm>

namespace onesided {

using octant::check;

namespace {

constexpr std::size_t line_bytes = 64;

// Number of positions that the operations use: those of one completion, or enough to exceed the caches.
std::size_t places(octant::Knobs const& knobs, std::size_t stride, std::size_t regions) {
    auto const window = static_cast<std::size_t>(knobs.integer("window"));
    if (knobs.word("buffers") == "hot") return window;
    auto const rotation = static_cast<std::size_t>(knobs.integer("rotation"));
    return std::max<std::size_t>(2, rotation / (stride * regions * window)) * window;
}

[[noreturn]] void refuse(octant::Knobs const& knobs, std::string const& knob, std::string const& why,
                         std::string const& alternative) {
    throw octant::Refusal("cannot use " + knob + "=" + knobs.values().at(knob) + " with pattern=" +
                              knobs.word("pattern") + " (" + why + "); try " + knob + "=" + alternative,
                          octant::Exit::not_supported);
}

}  // namespace

Transfers::Transfers(octant::Context& context, Pattern pattern)
    : group_(context.group),
      pattern_(pattern),
      kind_(context.knobs.word("win")),
      completion_(completion_of(context.knobs.word("completion"), pattern.local)),
      element_(context.knobs.word("type"), context.knobs.word("op")),
      bytes_(static_cast<std::size_t>(context.knobs.integer("bytes"))),
      stride_((bytes_ + line_bytes - 1) / line_bytes * line_bytes + line_bytes),
      window_count_(static_cast<std::size_t>(context.knobs.integer("window"))),
      values_(static_cast<int>(bytes_ / element_.size())),
      barrier_inside_(context.knobs.word("barrier") == "inside"),
      plays_(!of_two(pattern.shape) || group_.rank() == 0 || group_.rank() == group_.size() - 1) {
    refuse_misfits(context.knobs);
    if (!plays_) return;
    links_ = of_two(pattern.shape) ? links_of(pattern.shape, group_.rank() == 0 ? 0 : 1, 2)
                                   : links_of(pattern.shape, group_.rank(), group_.size());
    slots_ = places(context.knobs, stride_, std::max(links_.regions, links_.out.size()));
    region_bytes_ = slots_ * stride_;
    std::size_t const reached = links_.regions * region_bytes_;
    if (brings_memory(kind_))
        context.claim_outside(static_cast<double>(reached));
    else
        memory_.emplace(context.buffer<std::byte>(reached));
    local_.emplace(context.buffer<std::byte>(std::max<std::size_t>(1, links_.out.size()) * region_bytes_));
    if (fetches()) fetched_.emplace(context.buffer<std::byte>(local_->size()));
    if (memory_) context.watched.push_back(memory_->mapping().bytes());
    context.watched.push_back(local_->mapping().bytes());
}

Transfers::~Transfers() {
    if (epochs_) epochs_->abandon();
}

void Transfers::refuse_misfits(octant::Knobs const& knobs) const {
    std::string const size = std::to_string(element_.size());
    if (pattern_.local && knobs.word("completion") != "flush")
        refuse(knobs, "completion", "the pattern completes its operations with MPI_Win_flush_local", "flush");
    if (barrier_inside_ && (pattern_.shape == Shape::pair || pattern_.shape == Shape::one_to_all))
        refuse(knobs, "barrier", "the pattern has one origin", "outside");
    if (barrier_inside_ && (completion_ == Completion::fence || completion_ == Completion::pscw))
        refuse(knobs, "barrier",
               "a step of completion=" + knobs.word("completion") + " always ends with a synchronisation", "outside");
    if (single() && bytes_ != element_.size())
        refuse(knobs, "bytes", "the pattern uses one value of type " + knobs.word("type"), size);
    if (changes() && bytes_ % element_.size() != 0)
        refuse(knobs, "bytes", "values of type " + knobs.word("type") + " have " + size + " bytes",
               "a multiple of " + size);
    if (pattern_.operation == Operation::compare_and_swap && element_.real())
        refuse(knobs, "type", "MPI compares integers only", "int64");
    if (pattern_.operation == Operation::accumulate && knobs.word("op") == "no-op")
        refuse(knobs, "op", "MPI allows it only if the old value is fetched", "sum");
    if (counts() && knobs.word("op") != "sum") refuse(knobs, "op", "the pattern adds one", "sum");
    if (targets_one_rank() && knobs.word("op") == "prod")
        refuse(knobs, "op", "the product over all ranks exceeds the exact range of the check", "sum");
}

void Transfers::set_up() {
    ranks_.emplace(group_.split(plays_ ? 0 : 1, group_.rank()));
    if (!plays_) return;
    check_ranks(*ranks_, kind_);
    window_.emplace(*ranks_, kind_, memory_ ? memory_->data() : nullptr, links_.regions * region_bytes_);
    epochs_.emplace(completion_, *window_, *ranks_, links_.targets(),
                    origins_of(pattern_.shape, ranks_->rank(), ranks_->size()));
    for (std::size_t k = 0; k < links_.out.size(); ++k) {
        auto const& [target, region] = links_.out[k];
        ready_.push_back({target, place(local_->data(), k, 0), fetches() ? place(fetched_->data(), k, 0) : nullptr,
                          window_->begin_of(target) + static_cast<MPI_Aint>(region * region_bytes_)});
    }
    touch();
    epochs_->open();
}

// Each page is written by its owner and reached by its origin once: that is not what is measured.
void Transfers::touch() {
    double const value = pattern_.operation == Operation::compare_and_swap ? 0 : 1;  // equal to what is compared
    std::ranges::fill(local_->span(), std::byte{0});
    if (fetches()) std::ranges::fill(fetched_->span(), std::byte{0});
    for (std::size_t at = 0; at + element_.size() <= local_->size(); at += element_.size())
        element_.store(local_->data() + at, value);
    own([&] { std::fill_n(window_->data(), links_.regions * region_bytes_, std::byte{0}); });
    ranks_->barrier();
    constexpr std::size_t most = std::size_t{1} << 30;  // counts are int
    for (std::size_t k = 0; k < links_.out.size() && !targets_one_rank(); ++k) {
        int const target = ready_[k].target;
        check(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window_->get()));
        for (std::size_t from = 0; from < region_bytes_; from += most) {
            std::byte* const mine = ready_[k].mine + from;
            MPI_Aint const there = ready_[k].there + static_cast<MPI_Aint>(from);
            int const count = static_cast<int>(std::min(most, region_bytes_ - from));
            check(pattern_.operation == Operation::get
                      ? MPI_Get(mine, count, MPI_BYTE, target, there, count, MPI_BYTE, window_->get())
                      : MPI_Put(mine, count, MPI_BYTE, target, there, count, MPI_BYTE, window_->get()));
        }
        check(MPI_Win_unlock(target, window_->get()));
    }
    ranks_->barrier();
}

void Transfers::step() {
    if (!plays_) return;
    perform(slot_);
    slot_ = slot_ + 2 * window_count_ > slots_ ? 0 : slot_ + window_count_;
    if (barrier_inside_) barrier();
}

void Transfers::perform(std::size_t slot) {
    std::size_t const links = links_.out.size();
    if (epochs_->of_each_target()) {
        for (std::size_t first = 0, last = 0; first < links; first = last) {
            int const target = links_.out[first].target;
            while (last < links && links_.out[last].target == target) ++last;
            epochs_->begin(target);
            move(first, last, slot);
            epochs_->end(target);
        }
    } else {
        epochs_->begin();
        move(0, links, slot);
        epochs_->end();
    }
}

// The operations of links [first, last), as many as one completion ends.
void Transfers::move(std::size_t first, std::size_t last, std::size_t slot) const {
    switch (fault_ == 2 ? Operation::put : pattern_.operation) {
        case Operation::put:
            return move_as<Operation::put>(first, last, slot);
        case Operation::get:
            return move_as<Operation::get>(first, last, slot);
        case Operation::accumulate:
            return move_as<Operation::accumulate>(first, last, slot);
        case Operation::get_accumulate:
            return move_as<Operation::get_accumulate>(first, last, slot);
        case Operation::fetch_and_op:
            return move_as<Operation::fetch_and_op>(first, last, slot);
        case Operation::compare_and_swap:
            return move_as<Operation::compare_and_swap>(first, last, slot);
    }
}

template <Operation operation>
void Transfers::move_as(std::size_t first, std::size_t last, std::size_t slot) const {
    std::size_t const left_out = fault_ == 0 ? 1 : 0;
    for (std::size_t j = 0; j < window_count_; ++j) {
        std::size_t const without = j + 1 == window_count_ ? left_out : 0;
        for (std::size_t k = first; k + without < last; ++k) one<operation>(ready_[k], (slot + j) * stride_);
    }
}

template <Operation operation>
void Transfers::one(Ready const& link, std::size_t offset) const {
    std::byte* const mine = link.mine + offset;
    MPI_Aint const there = link.there + (counts() ? 0 : static_cast<MPI_Aint>(offset));
    MPI_Datatype const type = element_.type();
    MPI_Op const op = element_.operation();
    MPI_Win const window = window_->get();
    int const target = link.target, length = static_cast<int>(bytes_);
    if constexpr (operation == Operation::put)
        check(MPI_Put(mine, length, MPI_BYTE, target, there, length, MPI_BYTE, window));
    else if constexpr (operation == Operation::get)
        check(MPI_Get(mine, length, MPI_BYTE, target, there, length, MPI_BYTE, window));
    else if constexpr (operation == Operation::accumulate)
        check(MPI_Accumulate(mine, values_, type, target, there, values_, type, op, window));
    else if constexpr (operation == Operation::get_accumulate)
        check(MPI_Get_accumulate(mine, values_, type, link.old + offset, values_, type, target, there, values_, type,
                                 op, window));
    else if constexpr (operation == Operation::fetch_and_op)
        check(MPI_Fetch_and_op(mine, link.old + offset, type, target, there, op, window));
    else
        check(MPI_Compare_and_swap(mine, mine + compared, link.old + offset, type, target, there, window));
}

std::size_t Transfers::role() const {
    if (!plays_) return 2;
    // With post and wait, an exposure epoch ends when the data have arrived: the target's time is a step, too.
    return acts() || completion_ == Completion::pscw ? 0 : 1;
}

octant::Counts Transfers::work(std::size_t role) const {
    if (role != 0) return {};
    auto const rounds = static_cast<std::int64_t>(window_count_);
    std::int64_t const operations = rounds * static_cast<std::int64_t>(links_.out.size());
    std::int64_t const bytes = operations * static_cast<std::int64_t>(bytes_);
    bool const first = group_.rank() == 0;
    octant::Counts counts{{"rounds", first ? rounds : 0}, {"operations", operations}};
    if (single() || pattern_.local) return counts;
    counts.push_back({"bytes_moved", bytes});
    counts.push_back({"bytes_of_one_origin", first ? bytes : 0});
    return counts;
}

}  // namespace onesided
