// The check sum against the published one and against the definition, one bit at a time.
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
    return checks.result();
}
