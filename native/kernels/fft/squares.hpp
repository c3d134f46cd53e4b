// Squares of numbers in as many vectors as a vector has of them: transposed without memory.
#pragma once

#include "octant/vector.hpp"

#include <cstdint>

namespace octant::fft {

template <class Real>
struct SameSize {
    using Integer = std::int64_t;
};
template <>
struct SameSize<float> {
    using Integer = std::int32_t;
};

// Of vectors of `width` real numbers, `parts` of which make a number.
template <class Real, int width, int parts = 1>
struct Squares {
    using At = std::int64_t;
    using Integer = typename SameSize<Real>::Integer;
    static constexpr int bits = 8 * static_cast<int>(sizeof(Real));
    static constexpr At side = width / parts;
    using V = Vector<Real, bits * width>;
    using Index = Vector<Integer, bits*(width > 1 ? width : 2)>;  // for __builtin_shuffle

    // Exchanges the squares of half x half elements off the diagonal, then those of twice the size.
    template <At half = 1>
    [[gnu::always_inline]] static inline void transpose(V* rows) {
        if constexpr (half < side) {
            Index low{}, high{};
            for (At i = 0; i < width; ++i) {
                At const l = i / parts, part = i % parts;
                low[i] = static_cast<Integer>(parts * ((l & half) == 0 ? l : side + l - half) + part);
                high[i] = static_cast<Integer>(parts * ((l & half) == 0 ? l + half : side + l) + part);
            }
#pragma GCC unroll 16
            for (At i = 0; i < side; ++i) {
                if ((i & half) != 0) continue;
                V const a = rows[i], b = rows[i + half];
                rows[i] = __builtin_shuffle(a, b, low);
                rows[i + half] = __builtin_shuffle(a, b, high);
            }
            transpose<2 * half>(rows);
        }
    }
};

}  // namespace octant::fft
