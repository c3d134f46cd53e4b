// Operations on integer registers, on memory in the first cache, and on the state of the core.
#pragma once

#include "loops.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace core {

inline constexpr int table_lines = 64;  // 4 KiB, of which pattern=operations follows the addresses

struct alignas(64) Line {
    std::uint64_t next = 0;  // an address
};

// Operations by name. Those without `run` are not available on this processor.
[[nodiscard]] std::vector<std::pair<std::string, Operation>> word_operations();

// Links the lines in one cycle, so that no stride repeats.
void link_table(Line (&table)[table_lines]);

// Whether a change of the rounding mode has an effect, and the previous mode is restored afterwards.
[[nodiscard]] bool rounding_changes();

}  // namespace core
