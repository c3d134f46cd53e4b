// Compiled for AVX-512; called only where the processor has it.
#include "loops.hpp"

namespace {

struct Masked {
    static __mmask8 first(std::size_t n, double) { return static_cast<__mmask8>((1U << n) - 1); }
    static __mmask16 first(std::size_t n, float) { return static_cast<__mmask16>((1U << n) - 1); }
    template <class V>
    static V loaded(double const* from, std::size_t n) {
        return _mm512_mask_loadu_pd(_mm512_set1_pd(1), first(n, 0.0), from);
    }
    template <class V>
    static V loaded(float const* from, std::size_t n) {
        return _mm512_mask_loadu_ps(_mm512_set1_ps(1), first(n, 0.0F), from);
    }
    static void store(double* to, __m512d value, std::size_t n) { _mm512_mask_storeu_pd(to, first(n, 0.0), value); }
    static void store(float* to, __m512 value, std::size_t n) { _mm512_mask_storeu_ps(to, first(n, 0.0F), value); }
};

// Zero-masking variants with a full mask: the unmasked intrinsics cause a warning in gcc 12.
struct Double {
    static constexpr int steps = 2;
    static __m512d reciprocal(__m512d x) { return _mm512_maskz_rcp14_pd(0xFF, x); }
    static __m512d root(__m512d x) { return _mm512_maskz_rsqrt14_pd(0xFF, x); }
};

struct Single {
    static constexpr int steps = 1;
    static __m512 reciprocal(__m512 x) { return _mm512_maskz_rcp14_ps(0xFFFF, x); }
    static __m512 root(__m512 x) { return _mm512_maskz_rsqrt14_ps(0xFFFF, x); }
};

}  // namespace

vecmath::Calls vecmath::calls_512() { return calls<Masked, 512, 512>(); }
vecmath::Estimates<double> vecmath::estimates_double_512() { return Estimated<Masked, Double, double, 512>::loops(); }
vecmath::Estimates<float> vecmath::estimates_single_512() { return Estimated<Masked, Single, float, 512>::loops(); }
