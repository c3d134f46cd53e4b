// The control register of this thread: rounding mode, flush-to-zero and denormals-are-zero.
#pragma once

#include <cstdint>

namespace vecmath {

#if defined(__x86_64__)
inline constexpr unsigned status_bits = 0x3F;  // what has happened, not how to go on
inline std::uint64_t control() { return __builtin_ia32_stmxcsr() & ~status_bits; }
inline void set_control(std::uint64_t bits) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(bits)); }
inline constexpr std::uint64_t flushes_to_zero = 0x8000;
#elif defined(__aarch64__)
inline std::uint64_t control() {
    std::uint64_t bits = 0;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
}
inline void set_control(std::uint64_t bits) { asm volatile("msr fpcr, %0" ::"r"(bits)); }
inline constexpr std::uint64_t flushes_to_zero = std::uint64_t{1} << 24;
#else
inline std::uint64_t control() { return 0; }  // not known: the check always passes
inline void set_control(std::uint64_t) {}
inline constexpr std::uint64_t flushes_to_zero = 0;
#endif

}  // namespace vecmath
