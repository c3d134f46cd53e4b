#include "octant/crc.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

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

std::uint32_t by_tables(std::uint32_t sum, std::string_view bytes) noexcept {
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
    return sum;
}

#ifdef __x86_64__
// `x` moved over the distance that `by` stands for, and added to what lies there.
[[gnu::target("pclmul")]] __m128i fold(__m128i x, __m128i by, __m128i there) noexcept {
    __m128i const both = _mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00), _mm_clmulepi64_si128(x, by, 0x11));
    return _mm_xor_si128(both, there);
}

// Ten times as fast: folds all whole blocks of 64 bytes, of which there is one at least, into 16 bytes with the same
// sum (Gopal and others 2009). The factors are x^544, x^480 and x^160, x^96 modulo the polynomial, reflected.
[[gnu::target("pclmul")]] std::uint32_t by_folds(std::uint32_t sum, std::string_view bytes) noexcept {
    auto const load = [&](std::size_t at) {
        __m128i block;
        std::memcpy(&block, bytes.data() + at, sizeof block);
        return block;
    };
    __m128i folds[] = {load(0), load(16), load(32), load(48)};
    folds[0] = _mm_xor_si128(folds[0], _mm_cvtsi32_si128(static_cast<int>(sum)));
    std::size_t at = 64;
    for (__m128i const far = _mm_set_epi64x(0x1C6E41596, 0x154442BD4); at + 64 <= bytes.size(); at += 64)
        for (std::size_t k = 0; k < 4; ++k) folds[k] = fold(folds[k], far, load(at + 16 * k));
    __m128i const near = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0);
    for (std::size_t k = 0; k < 3; ++k) folds[k + 1] = fold(folds[k], near, folds[k + 1]);
    std::array<char, 16> last{};
    std::memcpy(last.data(), &folds[3], last.size());
    return by_tables(by_tables(0, {last.data(), last.size()}), bytes.substr(at));
}
#endif

}  // namespace

std::uint32_t crc32(std::string_view bytes) noexcept {
#ifdef __x86_64__
    if (bytes.size() >= 64 && __builtin_cpu_supports("pclmul")) return ~by_folds(~0U, bytes);
#endif
    return ~by_tables(~0U, bytes);
}

std::string hex8(std::uint32_t value) {
    std::string text(8, '0');
    for (std::size_t i = 8; i-- > 0; value >>= 4U) text[i] = "0123456789abcdef"[value & 15U];
    return text;
}

}  // namespace octant
