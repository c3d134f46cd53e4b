// Compiled for AVX2 and FMA; called only where the processor has them.
#include "loops.hpp"

namespace {

struct Masked {
    static __m256i first(std::size_t n, double) {
        return _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(n)), _mm256_setr_epi64x(0, 1, 2, 3));
    }
    static __m256i first(std::size_t n, float) {
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
    template <class V>
    static V loaded(double const* from, std::size_t n) {
        __m256i const mask = first(n, 0.0);
        return _mm256_blendv_pd(_mm256_set1_pd(1), _mm256_maskload_pd(from, mask), reinterpret_cast<__m256d>(mask));
    }
    template <class V>
    static V loaded(float const* from, std::size_t n) {
        __m256i const mask = first(n, 0.0F);
        return _mm256_blendv_ps(_mm256_set1_ps(1), _mm256_maskload_ps(from, mask), reinterpret_cast<__m256>(mask));
    }
    static void store(double* to, __m256d value, std::size_t n) { _mm256_maskstore_pd(to, first(n, 0.0), value); }
    static void store(float* to, __m256 value, std::size_t n) { _mm256_maskstore_ps(to, first(n, 0.0F), value); }
};

struct Single {
    static constexpr int steps = 1;
    static __m256 reciprocal(__m256 x) { return _mm256_rcp_ps(x); }
    static __m256 root(__m256 x) { return _mm256_rsqrt_ps(x); }
};

}  // namespace

vecmath::Calls vecmath::calls_256() { return calls<Masked, 256, 256>(); }
vecmath::Estimates<float> vecmath::estimates_single_256() { return Estimated<Masked, Single, float, 256>::loops(); }
