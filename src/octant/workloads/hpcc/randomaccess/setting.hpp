// Distribution of the table over ranks, access to its parts, and the result of the updates of a repetition.
#pragma once

#include "octant/mpi.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hpcc {

using Word = std::uint64_t;

inline constexpr std::size_t max_ahead = 1024;  // updates that HPCC lets a process store before they are applied

// HPCC's rule for any number of ranks: the first ones have a word more. Ranks are counted by their place.
class Division {
  public:
    Division(unsigned bits, int places);
    [[nodiscard]] unsigned bits() const noexcept { return bits_; }
    [[nodiscard]] Word words() const noexcept { return Word{1} << bits_; }
    [[nodiscard]] int places() const noexcept { return static_cast<int>(places_); }
    [[nodiscard]] Word first(int place) const noexcept {
        auto const at = static_cast<Word>(place);
        return at * each_ + (at < rest_ ? at : rest_);
    }
    [[nodiscard]] Word size(int place) const noexcept { return first(place + 1) - first(place); }
    [[nodiscard]] Word greatest() const noexcept { return each_ + (rest_ > 0 ? 1 : 0); }
    // A part begins no earlier than in an even division and by less than a part later, so that it is this or the one
    // before.
    [[nodiscard]] int owner(Word word) const noexcept {
        auto const place = static_cast<int>(static_cast<Word>(static_cast<__uint128_t>(word) * places_ >> bits_));
        return place - (word < first(place) ? 1 : 0);
    }

  private:
    unsigned bits_;
    Word places_, each_, rest_;
};

// A team reaches its part of the table by loads and stores: one rank, or ranks of a node. Places of a team follow each
// other.
struct Teams {
    std::vector<int> first;  // place of each team, and behind the last
    int mine = 0;

    [[nodiscard]] int count() const noexcept { return static_cast<int>(first.size()) - 1; }
    [[nodiscard]] int size(int team) const noexcept {
        auto const at = static_cast<std::size_t>(team);
        return first[at + 1] - first[at];
    }
    [[nodiscard]] int of(int place) const noexcept;
};

struct Setting {
    octant::Comm const* places = nullptr;  // ranks by place
    Division division;
    Teams teams;
    bool congruential = false;
    bool atomic = false;
    Word updates = 4;  // for each word
    std::size_t batch = 128;
    std::span<Word> memory = {};  // of my team, its part of the table
    // Injected faults: my updates begin so far behind their place, and so many are not made. `undo` has neither.
    Word late = 0, left_out = 0;

    [[nodiscard]] int me() const noexcept { return places->rank(); }
    [[nodiscard]] Word first_of_team() const {
        return division.first(teams.first[static_cast<std::size_t>(teams.mine)]);
    }
    [[nodiscard]] std::span<Word> own() const {
        return memory.subspan(division.first(me()) - first_of_team(), division.size(me()));
    }
    [[nodiscard]] Word first_update() const { return updates * division.first(me()); }
    [[nodiscard]] Word my_updates() const { return updates * division.size(me()); }
};

struct Done {  // by this rank in one repetition
    std::int64_t applied = 0;
    std::int64_t messages = 0;
    std::int64_t words_sent = 0;
    bool at_end = false;  // every part of my stretch of the sequence ended at its place
};

class Updates {  // one way of making all updates of a repetition; collective
  public:
    Updates() = default;
    Updates(Updates const&) = delete;
    Updates& operator=(Updates const&) = delete;
    virtual ~Updates() = default;
    [[nodiscard]] virtual Done run() = 0;
};

[[nodiscard]] std::unique_ptr<Updates> in_memory(Setting const& setting);  // of one team: no messages
[[nodiscard]] std::unique_ptr<Updates> by_halves(Setting const& setting);
[[nodiscard]] std::unique_ptr<Updates> by_hypercube(Setting const& setting, bool ahead);
[[nodiscard]] std::unique_ptr<Updates> routed(Setting const& setting);
[[nodiscard]] std::unique_ptr<Updates> by_buckets(Setting const& setting);

// All updates once more in a plain loop, each applied by the only rank to which its word belongs: the table is then as
// before. Collective; returns how many this rank applied.
std::int64_t undo(Setting const& setting);

}  // namespace hpcc
