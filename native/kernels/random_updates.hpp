// Updates of a table by HPCC's sequences: a stretch of a sequence in 128 parts at once, and a loop that asks for the
// word of an update long before it is applied.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace octant::hpcc {

inline constexpr std::size_t streams = 128;  // as HPCC divides the sequence
using Streams = std::array<std::uint64_t, streams>;

template <class Sequence>
void advance(Streams& at) noexcept {
    for (std::uint64_t& a : at) a = Sequence::next(a);
}

// Numbers `first` + 1 to `first` + `count` of a sequence, in 128 parts at once: a number of each part, then the next
// of each. The first parts are one longer where `count` is no multiple.
template <class Sequence>
class LengthSegment {
  public:
    LengthSegment(std::uint64_t first, std::uint64_t count) : rounds_(count / streams), rest_(count % streams) {
        for (std::size_t part = 0; part < streams; ++part)
            at_[part] = Sequence::jump(first + part * rounds_ + std::min<std::uint64_t>(part, rest_));
    }
    // At most `most` numbers, a multiple of 128; how many. Fewer only at the end; 0: there are no more.
    std::size_t fill(std::uint64_t* out, std::size_t most) noexcept {
        std::size_t const rounds = std::min<std::size_t>(most / streams, rounds_);
        for (std::size_t round = 0; round < rounds; ++round, out += streams) {
            advance<Sequence>(at_);
            std::copy(at_.begin(), at_.end(), out);
        }
        rounds_ -= rounds;
        if (rounds * streams == most || rest_ == 0) return rounds * streams;
        for (std::size_t part = 0; part < rest_; ++part) out[part] = at_[part] = Sequence::next(at_[part]);
        return rounds * streams + std::exchange(rest_, 0);
    }
    [[nodiscard]] Streams const& at() const noexcept { return at_; }

  private:
    Streams at_{};
    std::size_t rounds_, rest_;
};

// The words of a table that begins with word `first` of one of 2^bits words.
template <class Sequence>
struct Words {
    std::uint64_t* table;
    std::uint64_t first;
    unsigned bits;

    [[nodiscard]] std::uint64_t& operator()(std::uint64_t a) const noexcept {
        return table[Sequence::word(a, bits) - first];
    }
};

// Prefetches the words of `ahead` into the L2 cache. Into L1 it takes longer, since fewer misses can be outstanding.
template <class Sequence>
void prefetch(Words<Sequence> words, std::uint64_t const* ahead, std::size_t count) noexcept {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(&words(ahead[i]), 0, 2);
}

template <class Sequence>
void apply(Words<Sequence> words, std::uint64_t const* now, std::size_t count) noexcept {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < count; ++i) words(now[i]) ^= now[i];
}

// Prefetches and updates are interleaved: memory would be idle during a burst of updates alone.
template <class Sequence>
void prefetch_and_apply(Words<Sequence> words, std::uint64_t const* __restrict ahead,
                        std::uint64_t const* __restrict now, std::size_t count) noexcept {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < count; ++i) {
        __builtin_prefetch(&words(ahead[i]), 0, 2);
        words(now[i]) ^= now[i];
    }
}

// No update is lost where several apply updates to the same words.
template <class Sequence>
void apply_atomically(Words<Sequence> words, std::uint64_t const* numbers, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) __atomic_fetch_xor(&words(numbers[i]), numbers[i], __ATOMIC_RELAXED);
}

}  // namespace octant::hpcc
