// Vectors of complex numbers, to and from memory, and the stages of a transform of as many lines as they have elements.
#pragma once

#include "kernels/fft/butterflies.hpp"
#include "kernels/fft/passes.hpp"
#include "kernels/fft/squares.hpp"

#include <cstdint>

namespace octant::fft {

template <class Real, int width>
struct Vectors {
    using Of = Squares<Real, width>;
    using At = typename Of::At;
    using V = typename Of::V;
    using Index = typename Of::Index;
    using C = Complex<Real, V>;
    static constexpr At lanes = width;
    struct __attribute__((packed, aligned(alignof(Real)), may_alias)) Unaligned {
        V value;
    };

    [[gnu::always_inline]] static inline V load_unaligned(Real const* from) {
        return reinterpret_cast<Unaligned const*>(from)->value;
    }
    [[gnu::always_inline]] static inline C kept(Real const* from, At i) {
        return {*reinterpret_cast<V const*>(from + 2 * lanes * i),
                *reinterpret_cast<V const*>(from + 2 * lanes * i + lanes)};
    }
    [[gnu::always_inline]] static inline void keep(Real* to, At i, C value) {
        *reinterpret_cast<V*>(to + 2 * lanes * i) = value.re;
        *reinterpret_cast<V*>(to + 2 * lanes * i + lanes) = value.im;
    }
    [[gnu::always_inline]] static inline Real element(V const& of, At i) {
        if constexpr (lanes == 1)
            return of;
        else
            return of[i];
    }
    [[gnu::always_inline]] static inline void set(V& of, At i, Real value) {
        if constexpr (lanes == 1)
            of = value;
        else
            of[i] = value;
    }

    // Neighbours in memory become elements of vectors, and back.
    [[gnu::always_inline]] static inline C apart(V low, V high) {
        if constexpr (lanes == 1) {
            return {low, high};
        } else {
            Index even{}, odd{};
            for (At l = 0; l < lanes; ++l) even[l] = narrow(2 * l), odd[l] = narrow(2 * l + 1);
            return {__builtin_shuffle(low, high, even), __builtin_shuffle(low, high, odd)};
        }
    }
    template <At half>
    [[gnu::always_inline]] static inline V together(C value) {
        if constexpr (lanes == 1) {
            return half == 0 ? value.re : value.im;
        } else {
            Index order{};
            for (At l = 0; l < lanes; ++l) order[l] = narrow((half * lanes + l) / 2 + (l % 2) * lanes);
            return __builtin_shuffle(value.re, value.im, order);
        }
    }
    [[gnu::always_inline]] static inline V reversed(V value) {
        if constexpr (lanes == 1) {
            return value;
        } else {
            Index order{};
            for (At l = 0; l < lanes; ++l) order[l] = narrow(lanes - 1 - l);
            return __builtin_shuffle(value, order);
        }
    }
    [[gnu::always_inline]] static inline C fetch(Real const* from) {
        return apart(load_unaligned(from), load_unaligned(from + lanes));
    }
    [[gnu::always_inline]] static inline void put(Real* to, C value) {
        reinterpret_cast<Unaligned*>(to)->value = together<0>(value);
        reinterpret_cast<Unaligned*>(to + lanes)->value = together<1>(value);
    }

    [[gnu::always_inline]] static inline void transpose(C* rows) {
        V re[lanes], im[lanes];
#pragma GCC unroll 16
        for (At l = 0; l < lanes; ++l) re[l] = rows[l].re, im[l] = rows[l].im;
        Of::transpose(re);
        Of::transpose(im);
#pragma GCC unroll 16
        for (At l = 0; l < lanes; ++l) rows[l] = {re[l], im[l]};
    }

    // A stage from where `fetch(i)` finds number i to a buffer: all but the last, which has no twiddles.
    template <int radix, class Fetch>
    static void stage(StageOf<Real> const& at, Fetch fetch, Real* to) {
        At const apart_by = at.parts * at.stride;
        for (At p = 0; p < at.parts; ++p) {
            Real const* const w = at.twiddles + 2 * (radix - 1) * p;
            for (At q = 0; q < at.stride; ++q) {
                C x[radix];
#pragma GCC unroll 8
                for (At j = 0; j < radix; ++j) x[j] = fetch(q + at.stride * p + apart_by * j);
                Butterfly<radix, C>::apply(x);
                Real* const out = to + 2 * lanes * (q + at.stride * radix * p);
                keep(out, 0, x[0]);
#pragma GCC unroll 8
                for (At j = 1; j < radix; ++j) keep(out, at.stride * j, x[j].times(w[2 * j - 2], w[2 * j - 1]));
            }
        }
    }
    // The last stage; `put(k, x)` takes each result.
    template <int radix, class Fetch, class Put>
    static void last(StageOf<Real> const& at, Fetch fetch, Put put) {
        for (At q = 0; q < at.stride; ++q) {
            C x[radix];
#pragma GCC unroll 8
            for (At j = 0; j < radix; ++j) x[j] = fetch(q + at.stride * j);
            Butterfly<radix, C>::apply(x);
#pragma GCC unroll 8
            for (At j = 0; j < radix; ++j) put(q + at.stride * j, x[j]);
        }
    }
    template <class Fetch>
    static void any_stage(StageOf<Real> const& at, Fetch fetch, Real* to) {
        switch (at.radix) {
            case 2:
                return stage<2>(at, fetch, to);
            case 3:
                return stage<3>(at, fetch, to);
            case 4:
                return stage<4>(at, fetch, to);
            case 5:
                return stage<5>(at, fetch, to);
            default:
                return stage<8>(at, fetch, to);
        }
    }
    template <class Fetch, class Put>
    static void any_last(StageOf<Real> const& at, Fetch fetch, Put put) {
        switch (at.radix) {
            case 1:
                return last<1>(at, fetch, put);
            case 2:
                return last<2>(at, fetch, put);
            case 3:
                return last<3>(at, fetch, put);
            case 4:
                return last<4>(at, fetch, put);
            case 5:
                return last<5>(at, fetch, put);
            default:
                return last<8>(at, fetch, put);
        }
    }

  private:
    static constexpr typename Of::Integer narrow(At value) { return static_cast<typename Of::Integer>(value); }
};

}  // namespace octant::fft
