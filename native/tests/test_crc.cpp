// The check sum against the published one, against zlib, and against the definition, one bit at a time.
#include "octant/crc.hpp"

#include "check.hpp"

namespace {

std::uint32_t by_bits(std::string_view bytes) {
    std::uint32_t sum = ~0U;
    for (char const byte : bytes) {
        sum ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? 0xEDB88320U : 0U);
    }
    return ~sum;
}

}  // namespace

int main() {
    octant::Checks checks;
    checks.that(octant::crc32("123456789") == 0xCBF43926U, "the check value of CRC-32");
    checks.that(octant::crc32("") == 0, "nothing");
    checks.that(octant::hex8(0x00C0FFEEU) == "00c0ffee", "eight lower-case digits");
    std::string text;
    for (int i = 0; i < 300; ++i) {
        checks.that(octant::crc32(text) == by_bits(text), "any length");
        text += static_cast<char>(i * 37);
    }
    // zlib.crc32 of the first so many of these bytes
    std::string long_text;
    for (std::size_t i = 0; i < 100'000; ++i) long_text += static_cast<char>(i * i + i / 256);
    std::pair<std::size_t, std::uint32_t> const sums[] = {
        {1, 0xD202EF8DU},     {7, 0x659D0B28U},      {8, 0xB60CDA46U},       {9, 0x3BD74662U},
        {1'000, 0x932BF7A0U}, {65'536, 0x6530897EU}, {100'000, 0x276876F4U},
    };
    for (auto const& [bytes, sum] : sums)
        checks.that(octant::crc32(std::string_view(long_text).substr(0, bytes)) == sum, "as zlib computes it");
    return checks.result();
}
