#include "truth.hpp"

#include <bit>
#include <cstring>

static_assert(std::endian::native == std::endian::little, "the table is stored so");

// Not as an array in C++, which takes the compiler seconds.
asm(R"(
    .pushsection .rodata
    .balign 8
    .hidden octant_vecmath_truth
    .hidden octant_vecmath_truth_end
    .globl octant_vecmath_truth
    .globl octant_vecmath_truth_end
octant_vecmath_truth:
    .incbin "truth.bin"
octant_vecmath_truth_end:
    .popsection
)");

extern "C" {
extern char const octant_vecmath_truth[];
extern char const octant_vecmath_truth_end[];
}

vecmath::Truth vecmath::truth(std::size_t part, std::size_t i) {
    char const* const values = octant_vecmath_truth + part * truths * (sizeof(double) + sizeof(std::int16_t));
    Truth found{};
    std::int16_t rest = 0;
    std::memcpy(&found.high, values + i * sizeof(double), sizeof(double));
    std::memcpy(&rest, values + truths * sizeof(double) + i * sizeof(std::int16_t), sizeof rest);
    found.rest = rest / 65536.0;
    return found;
}

std::size_t vecmath::truth_bytes() { return static_cast<std::size_t>(octant_vecmath_truth_end - octant_vecmath_truth); }
