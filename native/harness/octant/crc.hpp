// The check sum that ends each record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace octant {

// CRC-32 as zlib computes it: reflected polynomial 0xEDB88320, all bits set at the start, inverted at the end.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes) noexcept;
[[nodiscard]] std::string hex8(std::uint32_t value);  // 8 lower-case digits

}  // namespace octant
