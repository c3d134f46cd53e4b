// Random updates of a table in memory: HPCC's RandomAccess, each thread on a table of its own.
#include "octant/kernel.hpp"
#include "kernels/hpcc_random.hpp"
#include "kernels/random_updates.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <vector>

namespace {

using octant::Buffer;
using octant::Context;
using octant::hpcc::jump;
using octant::hpcc::next;
using octant::hpcc::Polynomial;
using octant::hpcc::Streams;
using octant::hpcc::streams;
using Word = std::uint64_t;

constexpr std::int64_t steps = 32;
constexpr std::int64_t updates = steps * static_cast<std::int64_t>(streams);
constexpr Word apart = Word{1} << 40U;  // streams never overlap: no measurement takes 2^40 steps
constexpr std::size_t max_ahead = 512;
constexpr std::size_t slots = max_ahead / streams + 1;  // of a ring: the step that is applied, and those ahead of it

// The sequence of a lane: its numbers are made a step of 128 at a time, some steps before they are applied.
struct alignas(128) Lane {  // two lanes never share a cache line
    Streams at;             // the last numbers that were made; where one stream is followed, only the first of these
    std::array<Streams, slots> ring;
    std::size_t made = 0;  // steps
};

using Make = void (*)(Streams& at, Streams& out);

void make_of_many(Streams& at, Streams& out) {
    octant::hpcc::advance<Polynomial>(at);
    out = at;
}

void make_of_one(Streams& at, Streams& out) {
    Word a = at[0];
    for (Word& number : out) number = a = next(a);
    at[0] = a;
}

// Two loops: vectors compute the numbers of a step, and nothing but the updates lies between two updates.
void update(Word* __restrict table, Word mask, Streams& at) {
    for (std::int64_t step = 0; step < steps; ++step) {
        octant::hpcc::advance<Polynomial>(at);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < streams; ++i) table[at[i] & mask] ^= at[i];
    }
}

// The sequence as it is defined: a number, its update, the next number.
void update_one_by_one(Word* __restrict table, Word mask, Word& at) {
    Word a = at;
    for (std::int64_t i = 0; i < updates; ++i) {
        a = next(a);
        table[a & mask] ^= a;
    }
    at = a;
}

// The word of each number is prefetched while the number `ahead` places before is applied.
void update_prefetched(octant::hpcc::Words<Polynomial> words, Lane& lane, Make make, std::size_t ahead) {
    std::size_t const steps_ahead = (ahead + streams - 1) / streams, within = ahead % streams;
    for (std::int64_t step = 0; step < steps; ++step) {
        Word const* const now = lane.ring[(lane.made - steps_ahead) % slots].data();
        Streams& last = lane.ring[lane.made % slots];
        make(lane.at, last);
        ++lane.made;
        std::size_t const near = within == 0 ? 0 : streams - within;  // updates whose partner is of the same step
        octant::hpcc::prefetch_and_apply(words, now + within, now, near);
        octant::hpcc::prefetch_and_apply(words, last.data(), now + near, streams - near);
    }
}

class RandomAccess {
  public:
    static octant::KernelInfo info() {
        return {.knobs = {{"bytes",
                           octant::KnobKind::bytes,
                           "256MiB",
                           "table size per rank; the part of each thread is rounded down to a power of two",
                           {},
                           4096},
                          {"streams",
                           octant::KnobKind::word,
                           "128",
                           "independent parts of the random sequence; 1: sequential",
                           {"128", "1"}},
                          {"prefetch",
                           octant::KnobKind::word,
                           "no",
                           "yes: software prefetch of the words of later updates",
                           {"no", "yes"}},
                          {"batch",
                           octant::KnobKind::word,
                           "auto",
                           "prefetch distance in updates; auto: fastest of 16, 64 and 128 in a short trial",
                           {"auto", "16", "32", "64", "128", "256", "512"}}}};
    }

    explicit RandomAccess(Context& context)
        : context_(context),
          single_(context.knobs.word("streams") == "1"),
          prefetches_(context.knobs.word("prefetch") == "yes"),
          words_(table_words(context)),
          table_(context.buffer<Word>(words_ * static_cast<std::size_t>(context.threads))),
          lanes_(static_cast<std::size_t>(context.threads)) {
        std::string const& batch = context.knobs.word("batch");
        if (batch != "auto" && !prefetches_)
            throw octant::Refusal("cannot use batch=" + batch + " (prefetch=no); use prefetch=yes",
                                  octant::Exit::not_supported);
        if (prefetches_ && batch != "auto") ahead_ = std::stoul(batch);
        context.on_each_thread([&](int lane) { reset(lane); });
        context.watched = {table_.mapping().bytes()};
        context.notes.emplace_back("table_bytes", std::to_string(words_ * sizeof(Word)));
        context.note_rounded(context.knobs.integer("bytes"), static_cast<std::int64_t>(table_.size() * sizeof(Word)));
    }

    // batch=auto: the quickest of three distances, with all threads at work; each has its turn three times, and its
    // best counts. All ranks choose alike.
    void set_up() {
        if (prefetches_ && context_.knobs.word("batch") == "auto") choose();
        if (prefetches_) context_.notes.emplace_back("batch", std::to_string(ahead_));
    }

    void chunk(int lane, std::int64_t) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        if (prefetches_)
            update_prefetched({table(lane), 0, static_cast<unsigned>(std::countr_zero(words_))}, mine,
                              single_ ? make_of_one : make_of_many, ahead_);
        else if (single_)
            update_one_by_one(table(lane), words_ - 1, mine.at[0]);
        else
            update(table(lane), words_ - 1, mine.at);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {{"bytes_read", 8 * updates}, {"bytes_written", 8 * updates}, {"updates", updates}};
    }

    // An update is its own inverse: the plain loop below takes back what the chunks did, and the table is as before.
    octant::Results verify() {
        if (!corrupted_) run_forward();
        double wrong = jumps_agree() ? 0 : 1;
        for (int lane = 0; lane < lanes(); ++lane) {
            for (std::size_t stream = 0; stream < (single_ ? 1 : streams); ++stream) undo(lane, stream);
            for (Word i = 0; i < words_; ++i) wrong += table(lane)[i] == i ? 0 : 1;
        }
        return {{"table entries not restored by undoing the updates", wrong, "1", 0}};
    }

    void corrupt(std::size_t) {
        run_forward();
        table_[table_.size() / 2] ^= 1U;
        corrupted_ = true;
    }

  private:
    static std::size_t table_words(Context const& context) {
        auto const share = context.knobs.integer("bytes") / context.threads / static_cast<std::int64_t>(sizeof(Word));
        return std::bit_floor(static_cast<std::size_t>(std::max<std::int64_t>(share, 8)));
    }
    [[nodiscard]] Word* table(int lane) const { return table_.data() + static_cast<std::size_t>(lane) * words_; }
    static Word start(int lane, std::size_t stream) {
        return jump((static_cast<Word>(lane) * streams + static_cast<Word>(stream)) * apart);
    }
    [[nodiscard]] int lanes() const { return static_cast<int>(lanes_.size()); }
    [[nodiscard]] std::int64_t rounds() const {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(words_) / updates, 1, 1024);
    }

    void choose() {
        constexpr std::array<std::size_t, 3> known{16, 64, 128};
        std::array<double, known.size()> min_s{};
        min_s.fill(std::numeric_limits<double>::infinity());
        for (int turn = 0; turn < 3; ++turn)
            for (std::size_t i = 0; i < known.size(); ++i) {
                set_prefetch_distance(known[i]);
                double const took_s = context_.seconds_of([&] {
                    context_.on_each_thread([&](int lane) {
                        for (std::int64_t index = 0; index < trial_chunks; ++index) chunk(lane, index);
                    });
                });
                min_s[i] = std::min(min_s[i], took_s);
            }
        for (double& one : min_s) one = context_.group.max(one);
        set_prefetch_distance(known[static_cast<std::size_t>(std::ranges::min_element(min_s) - min_s.begin())]);
    }
    // The sequence goes on where it is: one that began again would find its words in the caches.
    void set_prefetch_distance(std::size_t ahead) {
        ahead_ = ahead;
        context_.on_each_thread([&](int lane) { make_first(lane); });
    }

    void reset(int lane) {
        for (Word i = 0; i < words_; ++i) table(lane)[i] = i;
        auto& at = lanes_[static_cast<std::size_t>(lane)].at;
        for (std::size_t stream = 0; stream < streams; ++stream) at[stream] = start(lane, stream);
        make_first(lane);
    }
    // If words are prefetched, the numbers of the first steps are generated before the first chunk.
    void make_first(int lane) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        mine.made = 0;
        for (std::size_t step = 0; step < (ahead_ + streams - 1) / streams; ++step)
            (single_ ? make_of_one : make_of_many)(mine.at, mine.ring[mine.made++]);
    }
    void run_forward() {
        for (int lane = 0; lane < lanes(); ++lane) {
            reset(lane);
            for (std::int64_t round = 0; round < rounds(); ++round) chunk(lane, round);
        }
    }
    void undo(int lane, std::size_t stream) const {
        Word a = start(lane, stream);
        for (std::int64_t i = 0; i < rounds() * (single_ ? updates : steps); ++i) {
            a = next(a);
            table(lane)[a & (words_ - 1)] ^= a;
        }
    }
    static bool jumps_agree() {
        Word a = 1;
        for (Word n = 0; n < 1000; ++n, a = next(a))
            if (jump(n) != a) return false;
        return true;
    }

    static constexpr std::int64_t trial_chunks = 8;  // half a millisecond from memory

    Context& context_;
    bool single_, prefetches_;
    std::size_t ahead_ = 0;  // updates between the prefetch of a word and its update; 0: no prefetch
    std::size_t words_;
    Buffer<Word> table_;
    std::vector<Lane> lanes_;
    bool corrupted_ = false;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<RandomAccess>(argc, argv); }
