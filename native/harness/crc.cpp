#include "octant/crc.hpp"

#include <array>

namespace octant {

// Eight bytes at a time (Kounavis and Berry 2008): table k holds the sum of a byte with k zero bytes behind it.
static constexpr auto tables = [] {
    std::array<std::array<std::uint32_t, 256>, 8> made{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t sum = byte;
        for (int bit = 0; bit < 64; ++bit) {
            sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? 0xEDB88320U : 0U);
            if (bit % 8 == 7) made[static_cast<std::size_t>(bit / 8)][byte] = sum;
        }
    }
    return made;
}();

std::uint32_t crc32(std::string_view bytes) noexcept {
    std::uint32_t sum = ~0U;
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
        std::uint32_t next = 0;
        for (std::size_t k = 0; k < 4; ++k) next ^= tables[7 - k][(sum >> (8 * k) & 0xFFU) ^ byte(i + k)];
        for (std::size_t k = 4; k < 8; ++k) next ^= tables[7 - k][byte(i + k)];
        sum = next;
    }
    for (; i < bytes.size(); ++i) sum = (sum >> 8U) ^ tables[0][(sum ^ byte(i)) & 0xFFU];
    return ~sum;
}

std::string hex8(std::uint32_t value) {
    std::string text(8, '0');
    for (std::size_t i = 8; i-- > 0; value >>= 4U) text[i] = "0123456789abcdef"[value & 15U];
    return text;
}

}  // namespace octant
