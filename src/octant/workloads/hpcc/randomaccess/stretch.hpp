// Common part of all algorithms: the part of the sequence of this rank, and its updates of memory.
#pragma once

#include "kernels/hpcc_random.hpp"
#include "kernels/random_updates.hpp"
#include "setting.hpp"

#include <algorithm>

namespace hpcc {

namespace sequences = octant::hpcc;

inline constexpr std::size_t prefetched = 128;  // updates whose words are prefetched before the first is applied

template <class Sequence>
class Applier {
  public:
    explicit Applier(Setting const& setting)
        : words_{setting.memory.data(), setting.first_of_team(), setting.division.bits()}, atomic_(setting.atomic) {}

    void prefetch(Word const* numbers, std::size_t count) const { sequences::prefetch(words_, numbers, count); }
    // Updates whose words were prefetched before.
    void apply(Word const* numbers, std::size_t count) {
        if (atomic_)
            sequences::apply_atomically(words_, numbers, count);
        else
            sequences::apply(words_, numbers, count);
        applied_ += static_cast<std::int64_t>(count);
    }
    // Prefetches the words of the next updates while these are applied.
    void prefetch_and_apply(Word const* ahead, std::size_t next, Word const* now, std::size_t count) {
        std::size_t const both = atomic_ ? 0 : std::min(next, count);
        sequences::prefetch_and_apply(words_, ahead, now, both);
        applied_ += static_cast<std::int64_t>(both);
        prefetch(ahead + both, next - both);
        apply(now + both, count - both);
    }
    // Any number of updates, with a prefetch distance of 128.
    void apply_all(Word const* numbers, std::size_t count) {
        std::size_t const first = std::min(prefetched, count);
        prefetch(numbers, first);
        prefetch_and_apply(numbers + first, count - first, numbers, count);
    }
    [[nodiscard]] Word word(Word number) const noexcept { return Sequence::word(number, words_.bits); }
    [[nodiscard]] std::int64_t applied() const noexcept { return applied_; }

  private:
    sequences::Words<Sequence> words_;
    bool atomic_;
    std::int64_t applied_ = 0;
};

template <class Sequence>
sequences::LengthSegment<Sequence> stretch_of(Setting const& setting) {
    return {setting.first_update() + setting.late, setting.my_updates() - setting.left_out};
}

// Whether each of the 128 parts ended where the next one began.
template <class Sequence>
bool ended(Setting const& setting, sequences::LengthSegment<Sequence> const& stretch) {
    Word const rounds = setting.my_updates() / sequences::streams, rest = setting.my_updates() % sequences::streams;
    for (std::size_t part = 0; part < sequences::streams; ++part)
        if (stretch.at()[part] !=
            Sequence::jump(setting.first_update() + (part + 1) * rounds + std::min(part + 1, rest)))
            return false;
    return true;
}

// Rounds of `batch` updates until the rank with most of them has none left.
inline Word rounds_of(Setting const& setting) {
    return (setting.updates * setting.division.greatest() + setting.batch - 1) / setting.batch;
}

}  // namespace hpcc
