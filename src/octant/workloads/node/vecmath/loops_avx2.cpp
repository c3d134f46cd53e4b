// Compiled for AVX2 and FMA; called only where the processor has them.
#include "loops.hpp"

namespace {

struct Single {
    static constexpr int steps = 1;
    static __m256 reciprocal(__m256 x) { return _mm256_rcp_ps(x); }
    static __m256 root(__m256 x) { return _mm256_rsqrt_ps(x); }
};

}  // namespace

vecmath::Calls vecmath::calls_256() { return calls<256, 256>(); }
vecmath::Estimates<float> vecmath::estimates_single_256() { return Estimated<Single, float, 256>::loops(); }
