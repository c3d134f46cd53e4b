// Grammar of numbers, sizes and times (docs/input.md), the same as in `octant.units`: tests compare the two.
#pragma once

#include <cstdint>
#include <string>

namespace octant {

// Each throws Refusal for any other text.
[[nodiscard]] std::int64_t parse_bytes(std::string const& text);    // 4096, 64KiB, 2M, 1 GB, 1e6
[[nodiscard]] double parse_seconds(std::string const& text);        // 0.5, 20ms, 3 us, 2min
[[nodiscard]] double parse_real(std::string const& text);           // 0.01, 1e-3; from 0 up
[[nodiscard]] std::int64_t parse_integer(std::string const& text);  // 12; from 0 up

}  // namespace octant
