// Platform header: vector types of a given width and non-temporal stores. Code for optional instruction sets is in
// separate files (name_avx2.cpp, name_avx512.cpp) and selected at run time.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace octant {

template <class Real, int bits>
struct VectorOf {
    using type __attribute__((vector_size(bits / 8))) = Real;
};
template <>
struct VectorOf<double, 64> {
    using type = double;
};
template <>
struct VectorOf<float, 32> {
    using type = float;
};
template <class Real, int bits>
using Vector = typename VectorOf<Real, bits>::type;

#if defined(__x86_64__)
inline constexpr bool x86 = true;
inline constexpr bool has_streaming_stores = true;
inline bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
inline bool has_avx512() { return __builtin_cpu_supports("avx512f"); }
inline void drain_stores() { _mm_sfence(); }
inline void flush_line(void const* line) { _mm_clflush(line); }
struct Cpuid {  // a leaf (first subleaf); zeros: not available
    unsigned a = 0, b = 0, c = 0, d = 0;
};
inline Cpuid cpuid(unsigned leaf) {
    Cpuid found;
    __get_cpuid_count(leaf, 0, &found.a, &found.b, &found.c, &found.d);
    return found;
}
inline constexpr bool has_rep_strings = true;  // one instruction copies or fills
inline void rep_copy(void* to, void const* from, long bytes) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
inline void rep_fill(void* to, unsigned char value, long bytes) {
    asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
}

template <class V>
inline void store_streaming(V* to, V value) {
    if constexpr (sizeof(V) == 64)
        _mm512_stream_pd(reinterpret_cast<double*>(to), reinterpret_cast<__m512d>(value));
    else if constexpr (sizeof(V) == 32)
        _mm256_stream_pd(reinterpret_cast<double*>(to), reinterpret_cast<__m256d>(value));
    else if constexpr (sizeof(V) == 16)
        _mm_stream_pd(reinterpret_cast<double*>(to), reinterpret_cast<__m128d>(value));
    else
        _mm_stream_si64(reinterpret_cast<long long*>(to), __builtin_bit_cast(long long, value));
}
#else
inline constexpr bool x86 = false;
inline constexpr bool has_streaming_stores = false;
inline bool has_avx2() { return false; }
inline bool has_avx512() { return false; }
inline void drain_stores() {}
inline void flush_line(void const*) {}
struct Cpuid {
    unsigned a = 0, b = 0, c = 0, d = 0;
};
inline Cpuid cpuid(unsigned) { return {}; }
inline constexpr bool has_rep_strings = false;
inline void rep_copy(void*, void const*, long) {}
inline void rep_fill(void*, unsigned char, long) {}

template <class V>
inline void store_streaming(V* to, V value) {
    *to = value;
}
#endif

// The register of POWER by which a thread controls the prefetching of streams, DSCR.
#if defined(__powerpc64__)
inline constexpr bool has_stream_control = true;
inline unsigned long stream_control() {
    unsigned long value = 0;
    asm volatile("mfspr %0, 3" : "=r"(value));
    return value;
}
inline void set_stream_control(unsigned long value) { asm volatile("mtspr 3, %0" : : "r"(value) : "memory"); }
#else
inline constexpr bool has_stream_control = false;
inline unsigned long stream_control() { return 0; }
inline void set_stream_control(unsigned long) {}
#endif

}  // namespace octant
