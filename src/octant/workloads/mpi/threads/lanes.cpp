#include "lanes.hpp"

#include <algorithm>
#include <limits>

namespace lanes {
namespace {

constexpr std::size_t line = 64;

}  // namespace

octant::KernelInfo shared_info() {
    using octant::KnobKind;
    return {.knobs = {{"bytes",
                       KnobKind::bytes,
                       "8",
                       "message size, or buffer size of a collective call",
                       {},
                       0,
                       std::numeric_limits<int>::max()},
                      {"comms",
                       KnobKind::word,
                       "each",
                       "each: one communicator per thread; one: a common communicator with one tag per thread",
                       {"each", "one"}},
                      {"window", KnobKind::integer, "64", "messages in flight (uniband, biband)", {}, 1, 100'000},
                      {"repeats", KnobKind::integer, "32", "operations per thread and step", {}, 1, 1'000'000},
                      {"oversubscribe",
                       KnobKind::word,
                       "no",
                       "yes: allow more threads than hardware threads (they share time slices)",
                       {"no", "yes"}}},
            .pace = octant::Pace::steps,
            .sync = octant::Sync::none,
            .thread_multiple = true};
}

Lanes::Lanes(octant::Context& context, std::size_t places)
    : context_(context),
      repeats_(context.knobs.integer("repeats")),
      bytes_(static_cast<int>(context.knobs.integer("bytes"))),
      window_(static_cast<int>(context.knobs.integer("window"))),
      own_comms_(context.knobs.word("comms") == "each"),
      memory_(context.buffer<std::uint8_t>(2 * places * static_cast<std::size_t>(context.threads) *
                                           ((static_cast<std::size_t>(bytes_) + line - 1) / line * line + line))),
      all_(static_cast<std::size_t>(context.threads)),
      wrong_(all_.size()) {
    if (context.share_cores && context.knobs.word("oversubscribe") == "no")
        throw octant::Refusal(
            "cannot use more threads than hardware threads (they would share time slices); try fewer ranks or threads, "
            "or oversubscribe=yes",
            octant::Exit::not_supported);
    std::size_t const stride = memory_.size() / (2 * places * all_.size());
    std::uint8_t* next = memory_.data();
    for (Lane& lane : all_) {
        for (std::size_t k = 0; k < places; ++k, next += stride) lane.out.push_back(next);
        for (std::size_t k = 0; k < places; ++k, next += stride) lane.in.push_back(next);
        lane.requests.resize(2 * places);
    }
    std::size_t const each = memory_.size() / all_.size();
    context.on_each_thread(
        [&](int t) { std::fill_n(all_[static_cast<std::size_t>(t)].out[0], each, std::uint8_t{1}); });
    context.watched = {memory_.mapping().bytes()};
}

void Lanes::set_up() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (comms_.empty() || own_comms_) {
            MPI_Comm copy = MPI_COMM_NULL;
            octant::check(MPI_Comm_dup(group().get(), &copy));
            comms_.emplace_back(copy);
        }
        all_[i].comm = comms_.back().get();
        all_[i].tag = static_cast<int>(i);
    }
}

void Lanes::on_each(std::function<void(Lane&, int)> const& body) const {
    context_.on_each_thread([&](int thread) { body(all_[static_cast<std::size_t>(thread)], thread); });
}

void Lanes::step(std::function<void(Lane&)> const& body) {
    on_each([&](Lane& lane, int) {
        for (std::int64_t i = 0; i < repeats_; ++i) body(lane);
    });
}

void Lanes::check(std::function<void(Lane&)> const& body, std::vector<Source> const& sources) {
    auto const n = static_cast<std::size_t>(bytes_);
    for (int pass = 0; pass < 3; ++pass)
        on_each([&](Lane& lane, int thread) {
            int const iteration = pass * threads() + thread;  // another thread's message is another one
            for (std::size_t k = 0; k < lane.out.size(); ++k)
                octant::fill_pattern({lane.out[k], n}, group().rank(), iteration, k * n);
            for (std::size_t k = 0; k < sources.size(); ++k)
                octant::poison({lane.in[k], n}, sources[k].rank, iteration,
                               static_cast<std::size_t>(sources[k].place) * n);
            body(lane);
            for (std::size_t k = 0; k < sources.size(); ++k) {
                Source const& from = sources[k];
                if (spoilt_ && n > 0) lane.in[k][0] ^= 1U;
                wrong(thread).compare({lane.in[k], n}, group().rank(), from.rank, iteration,
                                      static_cast<std::size_t>(from.place) * n);
            }
        });
}

octant::Result Lanes::found(char const* what) {
    if (spoilt_ && bytes_ == 0) wrong(0).add("rank " + std::to_string(group().rank()));
    double count = 0;
    std::string where;
    for (int t = 0; t < threads(); ++t) {
        count += wrong(t).count();
        if (where.empty() && wrong(t).count() > 0) where = wrong(t).where() + ", thread " + std::to_string(t);
    }
    return {what, count, "1", 0, where};
}

octant::Counts Lanes::counts(std::int64_t messages, std::int64_t turns, std::int64_t passed) const {
    bool const first = group().rank() == 0;
    std::int64_t const all = repeats_ * threads();
    return {{"messages", all * messages},
            {"bytes_sent", all * messages * bytes_},
            {"turns", first ? repeats_ * turns : 0},
            {"bytes_passed", first ? all * passed * bytes_ : 0}};
}

octant::Results Lanes::results() const {
    constexpr int trials = 100;
    double min_s = 1;
    for (int i = 0; i < trials; ++i) min_s = std::min(min_s, context_.seconds_of([&] { on_each([](Lane&, int) {}); }));
    return {{"fork-join overhead", min_s, "s"}};
}

}  // namespace lanes
