// Compiled for AVX-512; called only where the processor has it.
#include "loops.hpp"

namespace {

// With zeros in lanes that are left out, of which there are none: the plain forms have a warning in gcc 12.
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

vecmath::Calls vecmath::calls_512() { return calls<512, 512>(); }
vecmath::Estimates<double> vecmath::estimates_double_512() { return Estimated<Double, double, 512>::loops(); }
vecmath::Estimates<float> vecmath::estimates_single_512() { return Estimated<Single, float, 512>::loops(); }
