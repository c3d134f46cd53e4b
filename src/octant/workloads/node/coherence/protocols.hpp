// Round trips of a cache line between two hardware threads: the hot loops of both sides.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace coherence {

enum class Protocol { exchange, handover, read };

[[nodiscard]] Protocol protocol_of(std::string const& word);

inline constexpr std::size_t apart_bytes = 128;  // neighbours of a line may be fetched with it
inline constexpr std::size_t chain_lines = 128;

struct alignas(apart_bytes) Line {
    std::atomic<std::uint64_t> value;
    Line const* next;  // of the chain that is read
};

// Shared lines of both sides: new pages for each measurement of a pair, first touched by the caller.
struct Lines {
    std::array<Line, 2> handed;  // exchange: the first alone
    std::array<Line, chain_lines> chain;
};

// The first line of a chain in random order through all lines; all values are zero.
Line const* link(Lines& lines);

// Both sides of `trips` round trips. Each trip adds two to the count, which begins at `from`. They return the final
// count. With `handover`, each pass adds one to the value that it finds; `exchange` accepts only the next number, and
// hangs if another one arrives.
std::uint64_t call(Protocol protocol, Lines& lines, std::uint64_t from, std::int64_t trips);
std::uint64_t answer(Protocol protocol, Lines& lines, std::uint64_t from, std::int64_t trips);

// Lines that another side has changed, once through: `wait` until they are changed for the `turn`-th time (from 1 on),
// `read` them one after the other, which gives the sum of their values, then `allow` the next turn. The other side
// changes them for so many turns.
void wait_for(Lines const& lines, std::uint64_t turn);
std::uint64_t read_chain(Line const* first);
void allow(Lines& lines, std::uint64_t turn);
void change(Lines& lines, std::uint64_t turns);

}  // namespace coherence
