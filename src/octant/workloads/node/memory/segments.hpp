// The parts of a process, and what of them is on large pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace memory {

enum class Request { nothing, madvise, collapse };  // before memory is touched, or after

struct Segment {
    std::string name;
    std::span<std::byte> bytes;  // what was touched of it
    std::string refused;         // error of the request; empty: accepted
};

// Takes `bytes` of data, heap and mapping, and less of stacks, and calls `look` with each segment while it is there,
// and after the request. `touch` is called with a function that writes a segment for the first time: what takes long.
// Returns how many pages do not hold what was written. Throws Refusal.
[[nodiscard]] std::int64_t test_segments(Request request, std::size_t bytes,
                                         std::function<void(std::function<void()> const&)> const& touch,
                                         std::function<void(Segment const&)> const& look);

inline constexpr std::size_t data_bytes = std::size_t{32} << 20;  // most of data
inline constexpr std::size_t stack_bytes = std::size_t{4} << 20;

}  // namespace memory
