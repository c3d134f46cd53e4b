// The loop that follows pointers: each address is what the load before it brought, so that loads cannot overlap.
#pragma once

#include <cstdint>

namespace latency {

inline constexpr std::int64_t line_bytes = 64;
inline constexpr std::int64_t loads_a_chunk = 1024;

struct alignas(line_bytes) Node {
    Node const* next;
};

inline Node const* follow(Node const* at, std::int64_t loads) {
    for (std::int64_t i = 0; i < loads; i += 8)
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) at = at->next;
    return at;
}

}  // namespace latency
