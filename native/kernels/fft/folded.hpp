// One transform, folded into as many lanes as a vector has.
#pragma once

#include "kernels/fft/stages.hpp"

namespace octant::fft {

template <class Real, int width>
class Folded : Vectors<Real, width> {
    using Of = Vectors<Real, width>;
    using Of::lanes, Of::kept, Of::keep, Of::fetch, Of::put;
    using typename Of::At, typename Of::C, typename Of::V;

  public:
    static void transform(FoldOf<Real> const& fold, Real const* in, Real* out, Real* scratch, Real* other) {
        if (lanes > 1 && fold.line.length == lanes) return square(in, fold.turns, out);
        auto const from_memory = [in](At i) { return fetch(in + 2 * lanes * i); };
        int const count = fold.line.stages;
        auto const* const stage = fold.line.stage;
        if (count == 1) return finish(fold, stage[0], from_memory, scratch, out);
        // So that the stage before the last ends in `scratch`, which is never `out`.
        Real *to = count % 2 == 0 ? scratch : other, *next = count % 2 == 0 ? other : scratch;
        Of::any_stage(stage[0], from_memory, to);
        for (int s = 1; s < count - 1; ++s) {
            Of::any_stage(stage[s], [to](At i) { return kept(to, i); }, next);
            Real* const done = to;
            to = next, next = done;
        }
        finish(fold, stage[count - 1], [to](At i) { return kept(to, i); }, scratch, out);
    }

    static void split(SplitOf<Real> const& of) {
        Real* const z = of.numbers;
        At const m = of.m;
        Real const re = z[0], im = z[1];
        z[0] = re + im, z[1] = 0;
        z[2 * m] = re - im, z[2 * m + 1] = 0;
        At k = 1;
        for (; 2 * (k + lanes) <= m + 1; k += lanes) {
            Real *const low = z + 2 * k, *const high = z + 2 * (m - k - lanes + 1);
            C const a = fetch(low), back = fetch(high), t = fetch(of.turns + 2 * k);
            C const b{Of::reversed(back.re), -Of::reversed(back.im)};  // conjugated
            C const even = (a + b).scaled(Real(0.5)), odd = (a - b) * t;
            C const mirrored = even - odd;
            put(low, even + odd);
            put(high, {Of::reversed(mirrored.re), -Of::reversed(mirrored.im)});
        }
        for (; 2 * k <= m; ++k) {
            Complex<Real, Real> const a{z[2 * k], z[2 * k + 1]}, b{z[2 * (m - k)], -z[2 * (m - k) + 1]};
            Complex<Real, Real> const t{of.turns[2 * k], of.turns[2 * k + 1]};
            auto const even = (a + b).scaled(Real(0.5)), odd = (a - b) * t;
            z[2 * (m - k)] = even.re - odd.re, z[2 * (m - k) + 1] = odd.im - even.im;
            z[2 * k] = even.re + odd.re, z[2 * k + 1] = even.im + odd.im;
        }
    }

  private:
    template <class Fetch>
    static void finish(FoldOf<Real> const& fold, StageOf<Real> const& at, Fetch from, Real* scratch, Real* out) {
        if constexpr (lanes == 1) {
            Of::any_last(at, from, [out](At k, C x) { put(out + 2 * k, x); });
        } else {
            Of::any_last(at, from, [to = scratch, turns = fold.turns](At k, C x) { keep(to, k, x * kept(turns, k)); });
            across(scratch, out, fold.line.length);
        }
    }
    // Of lanes x lanes numbers, without a buffer.
    static void square(Real const* in, Real const* turns, Real* out) {
        C x[lanes];
#pragma GCC unroll 16
        for (At i = 0; i < lanes; ++i) x[i] = fetch(in + 2 * lanes * i);
        Butterfly<width, C>::apply(x);
#pragma GCC unroll 16
        for (At i = 1; i < lanes; ++i) x[i] = x[i] * kept(turns, i);
        Of::transpose(x);
        Butterfly<width, C>::apply(x);
#pragma GCC unroll 16
        for (At l = 0; l < lanes; ++l) put(out + 2 * lanes * l, x[l]);
    }
    // Transforms of length `lanes`, of each element across the lanes, in squares.
    static void across(Real const* from, Real* out, At length) {
        for (At k = 0; k < length; k += lanes) {
            At const at =
                k <= length - lanes ? k : length - lanes;  // the last ones are done twice where they do not fit
            C x[lanes];
#pragma GCC unroll 16
            for (At l = 0; l < lanes; ++l) x[l] = kept(from, at + l);
            Of::transpose(x);
            Butterfly<width, C>::apply(x);
#pragma GCC unroll 16
            for (At l = 0; l < lanes; ++l) put(out + 2 * (at + length * l), x[l]);
        }
    }
};

}  // namespace octant::fft
