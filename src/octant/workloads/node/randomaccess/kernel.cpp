// Random updates of a table in memory: HPCC's RandomAccess, each thread on a table of its own.
#include "octant/kernel.hpp"
#include "kernels/hpcc_random.hpp"
#include "kernels/random_updates.hpp"

#include <algorithm>
#include <bit>

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
constexpr Word apart = Word{1} << 40U;  // streams never meet: nobody takes 2^40 steps

// Two loops: vectors compute the numbers of a step, and nothing but the updates lies between two updates.
void update(Word* __restrict table, Word mask, Streams& at) {
    for (std::int64_t step = 0; step < steps; ++step) {
        octant::hpcc::advance<Polynomial>(at);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < streams; ++i) table[at[i] & mask] ^= at[i];
    }
}

// A step behind: the words of the next one are asked for while this one's are updated.
void update_prefetched(octant::hpcc::Words<Polynomial> words, Streams& at) {
    for (std::int64_t step = 0; step < steps; ++step) {
        Streams const now = at;
        octant::hpcc::advance<Polynomial>(at);
        octant::hpcc::prefetch_and_apply(words, at.data(), now.data(), streams);
    }
}

class RandomAccess {
  public:
    static octant::KernelInfo info() {
        return {.knobs = {{"bytes",
                           octant::KnobKind::bytes,
                           "256MiB",
                           "tables of all threads of a rank; each takes the largest power of two that fits",
                           {},
                           4096},
                          {"prefetch",
                           octant::KnobKind::word,
                           "no",
                           "yes: the word of an update is asked for from memory 128 updates before",
                           {"no", "yes"}}}};
    }

    explicit RandomAccess(Context& context)
        : lanes_(context.threads),
          prefetches_(context.knobs.word("prefetch") == "yes"),
          words_(table_words(context)),
          table_(context.buffer<Word>(words_ * static_cast<std::size_t>(lanes_))),
          at_(static_cast<std::size_t>(lanes_)) {
        context.on_each_thread([&](int lane) { reset(lane); });
        context.watched = {table_.mapping().bytes()};
        context.notes = {{"table_bytes", std::to_string(words_ * sizeof(Word))}};
        context.note_rounded(context.knobs.integer("bytes"), static_cast<std::int64_t>(table_.size() * sizeof(Word)));
    }

    void chunk(int lane, std::int64_t) {
        Streams& at = at_[static_cast<std::size_t>(lane)].streams;
        if (prefetches_)
            update_prefetched({table(lane), 0, static_cast<unsigned>(std::countr_zero(words_))}, at);
        else
            update(table(lane), words_ - 1, at);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {{"bytes_read", 8 * updates}, {"bytes_written", 8 * updates}, {"updates", updates}};
    }

    // An update is its own inverse: the plain loop below takes back what the chunks did, and the table is as before.
    octant::Results verify() {
        if (!corrupted_) run_forward();
        double wrong = jumps_agree() ? 0 : 1;
        for (int lane = 0; lane < lanes_; ++lane) {
            for (std::size_t stream = 0; stream < streams; ++stream) undo(lane, stream);
            for (Word i = 0; i < words_; ++i) wrong += table(lane)[i] == i ? 0 : 1;
        }
        return {{"table entries that undoing the updates does not restore", wrong, "1", 0}};
    }

    void corrupt(std::size_t) {
        run_forward();
        table_[table_.size() / 2] ^= 1U;
        corrupted_ = true;
    }

  private:
    struct alignas(128) Place {  // two lanes never share a cache line
        Streams streams;
    };

    static std::size_t table_words(Context const& context) {
        auto const share = context.knobs.integer("bytes") / context.threads / static_cast<std::int64_t>(sizeof(Word));
        return std::bit_floor(static_cast<std::size_t>(std::max<std::int64_t>(share, 8)));
    }
    [[nodiscard]] Word* table(int lane) const { return table_.data() + static_cast<std::size_t>(lane) * words_; }
    static Word start(int lane, std::size_t stream) {
        return jump((static_cast<Word>(lane) * streams + static_cast<Word>(stream)) * apart);
    }
    [[nodiscard]] std::int64_t rounds() const {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(words_) / updates, 1, 1024);
    }

    void reset(int lane) {
        for (Word i = 0; i < words_; ++i) table(lane)[i] = i;
        auto& at = at_[static_cast<std::size_t>(lane)].streams;
        for (std::size_t stream = 0; stream < streams; ++stream) at[stream] = start(lane, stream);
    }
    void run_forward() {
        for (int lane = 0; lane < lanes_; ++lane) {
            reset(lane);
            for (std::int64_t round = 0; round < rounds(); ++round) chunk(lane, round);
        }
    }
    void undo(int lane, std::size_t stream) const {
        Word a = start(lane, stream);
        for (std::int64_t i = 0; i < rounds() * steps; ++i) {
            if (!prefetches_) a = next(a);
            table(lane)[a & (words_ - 1)] ^= a;
            if (prefetches_) a = next(a);  // which is asked for, but not applied
        }
    }
    static bool jumps_agree() {
        Word a = 1;
        for (Word n = 0; n < 1000; ++n, a = next(a))
            if (jump(n) != a) return false;
        return true;
    }

    int lanes_;
    bool prefetches_;
    std::size_t words_;
    Buffer<Word> table_;
    std::vector<Place> at_;
    bool corrupted_ = false;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<RandomAccess>(argc, argv); }
