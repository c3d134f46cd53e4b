// The 25-point update of some rows, once for every vector width, kind of store and with or without asking ahead. Every
// point is computed by the same operations in the same order, so that mirrored values stay mirrored to the last bit. No
// other header: what is compiled for one instruction set must not leak into the rest of the program.
#pragma once

#include "octant/vector.hpp"

#include <cstddef>

namespace stencil {

inline constexpr std::ptrdiff_t reach = 4;   // points to each side, in x, y and z
inline constexpr std::ptrdiff_t flops = 33;  // 20 neighbours and 5 products added, 2 u - old + factor * sum; 6 products
// Second derivative of order 8 in one direction; the middle counts once for each.
inline constexpr double weights[] = {3 * -205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};

template <class Real>
struct Rows {
    Real const* now;               // first point of the first row
    Real const* old;               // the level before
    Real* next;                    // may be `old`
    Real const* factor;            // v² dt² / h²
    std::ptrdiff_t count, points;  // rows; points of a row, whole vectors
    std::ptrdiff_t pitch, plane;   // elements to the next row, to the next plane
    std::ptrdiff_t ahead;          // prefetch distance in elements
};
template <class Real>
using Update = void (*)(Rows<Real> const&);

template <class Real, int bits>
struct Loops {
    using V = octant::Vector<Real, bits>;
    static constexpr std::ptrdiff_t lanes = bits / (8 * sizeof(Real));

    static V at(Real const* from) {  // at any address
        V v;
        __builtin_memcpy(&v, from, sizeof v);
        return v;
    }
    // The two points `k` steps of `stride` away.
    static V pair(Real const* p, std::ptrdiff_t stride) { return at(p - stride) + at(p + stride); }

    template <bool streaming, bool asks>
    static void rows(Rows<Real> const& all) {
        std::ptrdiff_t const pitch = all.pitch, plane = all.plane, ahead = all.ahead;
        for (std::ptrdiff_t row = 0; row < all.count; ++row) {
            Real const* __restrict const now = all.now + row * pitch;
            Real const* __restrict const factor = all.factor + row * pitch;
            Real const* const old = all.old + row * pitch;
            Real* const next = all.next + row * pitch;
            for (std::ptrdiff_t x = 0; x < all.points; x += lanes) {
                Real const* const p = now + x;
                if constexpr (asks) {
                    __builtin_prefetch(p + reach * plane + ahead);
                    __builtin_prefetch(old + x + ahead);
                    __builtin_prefetch(factor + x + ahead);
                }
                V const here = at(p);
                V sum = static_cast<Real>(weights[0]) * here;
#pragma GCC unroll 4
                for (std::ptrdiff_t k = 1; k <= reach; ++k)
                    sum += static_cast<Real>(weights[k]) * ((pair(p, k) + pair(p, k * pitch)) + pair(p, k * plane));
                V const result = ((here + here) - at(old + x)) + at(factor + x) * sum;
                if constexpr (streaming)
                    octant::store_streaming(reinterpret_cast<V*>(next + x), result);
                else
                    *reinterpret_cast<V*>(next + x) = result;
            }
        }
        if constexpr (streaming) octant::drain_stores();
    }
};

template <class Real>
struct Table {
    Update<Real> plain, plain_asking, streaming, streaming_asking;
};
template <class Real, int bits>
Table<Real> table() {
    using L = Loops<Real, bits>;
    return {L::template rows<false, false>, L::template rows<false, true>, L::template rows<true, false>,
            L::template rows<true, true>};
}

template <class Real>
Table<Real> loops_128();
template <class Real>
Table<Real> loops_256();  // of AVX2
template <class Real>
Table<Real> loops_512();  // of AVX-512

}  // namespace stencil
