#include "octant/crc.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace octant {
namespace {

// Sixteen bytes at a time (after Kounavis and Berry 2008): table k holds the sum of a byte with k zero bytes behind it.
using Tables = std::array<std::array<std::uint32_t, 256>, 16>;

constexpr Tables make_tables() {
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t sum = byte;
        for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? 0xEDB88320U : 0U);
        tables[0][byte] = sum;
    }
    for (std::size_t k = 1; k < tables.size(); ++k)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            std::uint32_t const before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
        }
    return tables;
}

constexpr Tables tables = make_tables();

}  // namespace

std::uint32_t crc32(std::string_view bytes) noexcept {
    std::uint32_t sum = ~0U;
    std::size_t i = 0;
    if constexpr (std::endian::native == std::endian::little)
        for (; i + 16 <= bytes.size(); i += 16) {
            std::array<std::uint64_t, 2> words{};
            std::memcpy(words.data(), bytes.data() + i, 16);
            words[0] ^= sum;
            sum = 0;
            for (std::size_t k = 0; k < 8; ++k) sum ^= tables[15 - k][(words[0] >> (8 * k)) & 0xFFU];
            for (std::size_t k = 0; k < 8; ++k) sum ^= tables[7 - k][(words[1] >> (8 * k)) & 0xFFU];
        }
    for (; i < bytes.size(); ++i) sum = (sum >> 8U) ^ tables[0][(sum ^ static_cast<unsigned char>(bytes[i])) & 0xFFU];
    return ~sum;
}

std::string hex8(std::uint32_t value) {
    std::string text(8, '0');
    for (std::size_t i = 8; i-- > 0; value >>= 4U) text[i] = "0123456789abcdef"[value & 15U];
    return text;
}

}  // namespace octant
