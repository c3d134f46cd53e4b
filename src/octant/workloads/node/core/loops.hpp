// Chains of one operation on registers, once for every vector width. No other header but that of the vectors: what is
// compiled for one instruction set must not leak into the rest of the program.
#pragma once

#include "octant/vector.hpp"

namespace core {

inline constexpr long links = 32;         // of each chain in a turn
inline constexpr int max_elements = 384;  // chains x lanes, in single precision at 512 bits

// `turns` iterations over all chains, whose states are contiguous. Every iteration has `links` operations of each
// chain.
using Run = void (*)(void* state, long turns);

struct Loop {
    Run run = nullptr;    // none: not at this width, or not on this processor
    Run plain = nullptr;  // the same of a single element, one operation behind the other
    int chains = 0;
    int lanes = 0;  // elements of each chain
};

enum class Element { real, single, word };  // double, float, and 64 bits

struct Operation {
    Loop latency, throughput;
    Element element = Element::word;
};

struct Floating {  // what a vector width offers
    Operation fadd, fmul, fma, divide, sqrt, reciprocal, rsqrt, compare;
    int bits;    // 0: one element at a time
    bool fused;  // fma is one instruction
};

[[nodiscard]] Floating floating_scalar();
[[nodiscard]] Floating floating_128();
[[nodiscard]] Floating floating_256();
[[nodiscard]] Floating floating_512();

// More than latency times units on all processors in scope, in the registers that there are.
template <int bits>
inline constexpr int parallel_chains = !octant::x86 || bits == 512 ? 24 : 12;

template <class V>
inline void opaque(V& value) {  // the compiler must neither know the value nor move, merge or drop the work
#if defined(__x86_64__)
    asm volatile("" : "+v"(value));
#else
    asm volatile("" : "+w"(value));
#endif
}

// Each operation takes x and two constants with full mantissas; the final value determines the length of the chain.
struct Add {
    static constexpr double a = 0x1.921fb54442d18p-17, b = 0;
    template <class V>
    static V link(V x, V c, V) {
        return x + c;
    }
};
struct Multiply {
    static constexpr double a = 1 + 0x1.921fb54442d18p-17, b = 0;
    template <class V>
    static V link(V x, V c, V) {
        return x * c;
    }
};
struct MultiplyAdd {
    static constexpr double a = 1 + 0x1.5bf0a8b145769p-27, b = 0x1.921fb54442d18p-13;
    template <class V>
    static V link(V x, V c, V d) {
        return x * c + d;
    }
};
struct Divide {
    static constexpr double a = 1 + 0x1.921fb54442d18p-17, b = 0;
    template <class V>
    static V link(V x, V c, V) {
        return x / c;
    }
};

// Unmasked intrinsics of 512 bits warn of uninitialised values in gcc 12; a mask of all ones is dropped.

// Square root: 32 links from a large number on; then x 0 + start, which waits for x, begins anew.
struct Root {
    static constexpr double a = 0, b = 0x1.5bf0a8b145769p+100;
    template <class V>
    static V link(V x, V, V) {
#if defined(__x86_64__)
        if constexpr (sizeof(V) == 8)
            return __builtin_sqrt(x);
        else if constexpr (sizeof(V) == 16)
            return V(__builtin_ia32_sqrtpd(x));
#if defined(__AVX__)
        else if constexpr (sizeof(V) == 32)
            return V(__builtin_ia32_sqrtpd256(x));
#endif
#if defined(__AVX512F__)
        else
            return V(_mm512_maskz_sqrt_pd(0xff, __m512d(x)));
#endif
#else
        if constexpr (sizeof(V) == 8) {
            return __builtin_sqrt(x);
        } else {
            V root = x;
            for (unsigned k = 0; k < sizeof(V) / 8; ++k) root[k] = __builtin_sqrt(x[k]);
            return root;
        }
#endif
    }
};

template <class Op, class V>
inline V restarted(V x, V a, V b) {
    if constexpr (__is_same(Op, Root)) return x * a + b;
    return x;
}

template <class Op, class Real, class V, int chains>
void run_chains(void* state, long turns) {
    V x[chains];
    V a = V{} + static_cast<Real>(Op::a), b = V{} + static_cast<Real>(Op::b);
    opaque(a);
    opaque(b);
    auto* const memory = static_cast<V*>(state);
#pragma GCC unroll 32
    for (int k = 0; k < chains; ++k) x[k] = memory[k];
    for (long i = 0; i < turns; ++i) {
#pragma GCC unroll 4
        for (long link = 0; link < links; ++link)
#pragma GCC unroll 32
            for (int k = 0; k < chains; ++k) {
                x[k] = Op::link(x[k], a, b);
                opaque(x[k]);
            }
#pragma GCC unroll 32
        for (int k = 0; k < chains; ++k) x[k] = restarted<Op>(x[k], a, b);
    }
#pragma GCC unroll 32
    for (int k = 0; k < chains; ++k) memory[k] = x[k];
}

// Reference for the timed loops: one element and one operation at a time.
template <class Op, class Real>
void one_by_one(void* state, long turns) {
    Real& x = *static_cast<Real*>(state);
    for (long number = 1; number <= turns * links; ++number) {
        x = Op::link(x, static_cast<Real>(Op::a), static_cast<Real>(Op::b));
        if (number % links == 0) x = restarted<Op>(x, static_cast<Real>(Op::a), static_cast<Real>(Op::b));
    }
}

template <class Op, class Real, int bits>
Loop loop(bool many) {
    using V = octant::Vector<Real, bits == 0 ? 8 * static_cast<int>(sizeof(Real)) : bits>;
    constexpr int lanes = static_cast<int>(sizeof(V) / sizeof(Real)), chains = parallel_chains<bits>;
    Run const plain = one_by_one<Op, Real>;
    return many ? Loop{run_chains<Op, Real, V, chains>, plain, chains, lanes}
                : Loop{run_chains<Op, Real, V, 1>, plain, 1, lanes};
}

template <class Op, class Real, int bits>
Operation operation() {
    constexpr Element element = __is_same(Real, double)  ? Element::real
                                : __is_same(Real, float) ? Element::single
                                                         : Element::word;
    return {loop<Op, Real, bits>(false), loop<Op, Real, bits>(true), element};
}

#if defined(__x86_64__)
// Estimates: x and nearly 1 / x by turns, and x to nearly 1 / sqrt(x). Those of 512 bits have 14 bits, others about 12.
struct Reciprocal {
    static constexpr double a = 0, b = 0;
    static float link(float x, float, float) { return _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(x))); }
    template <class V>
    static V link(V x, V, V) {
        if constexpr (sizeof(V) == 16) return V(_mm_rcp_ps(__m128(x)));
#if defined(__AVX__)
        if constexpr (sizeof(V) == 32) return V(_mm256_rcp_ps(__m256(x)));
#endif
    }
};
struct ReciprocalRoot {
    static constexpr double a = 0, b = 0;
    static float link(float x, float, float) { return _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(x))); }
    template <class V>
    static V link(V x, V, V) {
        if constexpr (sizeof(V) == 16) return V(_mm_rsqrt_ps(__m128(x)));
#if defined(__AVX__)
        if constexpr (sizeof(V) == 32) return V(_mm256_rsqrt_ps(__m256(x)));
#endif
    }
};
#if defined(__AVX512F__)
struct Reciprocal14 {
    static constexpr double a = 0, b = 0;
    static float link(float x, float, float) { return _mm_cvtss_f32(_mm_rcp14_ss(_mm_setzero_ps(), _mm_set_ss(x))); }
    template <class V>
    static V link(V x, V, V) {
        return V(_mm512_maskz_rcp14_ps(0xffff, __m512(x)));
    }
};
struct ReciprocalRoot14 {
    static constexpr double a = 0, b = 0;
    static float link(float x, float, float) { return _mm_cvtss_f32(_mm_rsqrt14_ss(_mm_setzero_ps(), _mm_set_ss(x))); }
    template <class V>
    static V link(V x, V, V) {
        return V(_mm512_maskz_rsqrt14_ps(0xffff, __m512(x)));
    }
};
#endif

// Bytes are compared, the result goes to an integer register as a mask, and back to all lanes of a vector. The mask of
// eight bytes is their next value, which goes through 0, 1, 2, 4, …, 128 and 0 again.
struct Compare {
    static constexpr long long a = 0x4020100804020100, b = 0;
    static long long link(long long x, long long c, long long) {
        long long mask = 0;
        for (int byte = 0; byte < 8; ++byte)
            if (((x ^ c) >> 8 * byte & 0xff) == 0) mask |= 1LL << byte;
        return mask * 0x0101010101010101;
    }
    template <class V>
    static V link(V x, V c, V) {
        if constexpr (sizeof(V) == 16)
            return V(_mm_set1_epi16(static_cast<short>(_mm_movemask_epi8(_mm_cmpeq_epi8(__m128i(x), __m128i(c))))));
#if defined(__AVX2__)
        if constexpr (sizeof(V) == 32)
            return V(_mm256_set1_epi32(_mm256_movemask_epi8(_mm256_cmpeq_epi8(__m256i(x), __m256i(c)))));
#endif
    }
};
#endif

#if defined(__x86_64__) && !defined(__FMA__)
inline constexpr bool fused_here = false;
#else
inline constexpr bool fused_here = true;
#endif

template <int bits>
Floating floating() {
    Floating found{};
    found.bits = bits;
    found.fused = fused_here;
    found.fadd = operation<Add, double, bits>();
    found.fmul = operation<Multiply, double, bits>();
    found.fma = operation<MultiplyAdd, double, bits>();
    found.divide = operation<Divide, double, bits>();
    found.sqrt = operation<Root, double, bits>();
#if defined(__x86_64__)
    if constexpr (bits == 128 || bits == 256) {
        found.reciprocal = operation<Reciprocal, float, bits>();
        found.rsqrt = operation<ReciprocalRoot, float, bits>();
        found.compare = operation<Compare, long long, bits>();
    }
#if defined(__AVX512F__)
    if constexpr (bits == 512) {
        found.reciprocal = operation<Reciprocal14, float, bits>();
        found.rsqrt = operation<ReciprocalRoot14, float, bits>();
    }
#endif
#endif
    return found;
}

}  // namespace core
