// How a line of memory goes from one hardware thread to another and back: the hot loops of both sides.
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

// What both sides share: fresh pages for each visit of a pair, touched first by the one that calls.
struct Lines {
    std::array<Line, 2> handed;  // exchange: the first alone
    std::array<Line, chain_lines> chain;
};

// The first line of a chain in random order through all lines; all values are zero.
Line const* link(Lines& lines);

// Both sides of `trips` round trips, each of which adds two to the count that is handed over, `from` before. They
// return the count as it is then: of `handover` each pass adds one to what was found; `exchange` takes the next number
// alone, and waits indefinitely where another one comes.
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
