// The two passes with vectors of one width.
#pragma once

#include "kernels/fft/butterflies.hpp"
#include "kernels/fft/passes.hpp"
#include "octant/vector.hpp"

#include <cstdint>

namespace octant::fft {

template <int bits>
class Lanes {
  public:
    static constexpr std::int64_t lanes = bits / 64;

    static void columns(Pass const& pass) {
        for (std::int64_t c = 0; c < pass.lines; c += lanes) Lanes(pass, c).column_group();
        if (pass.last_streamed > 0) drain_stores();
    }
    static void rows(Pass const& pass) {
        for (std::int64_t c = 0; c < pass.lines; c += lanes) Lanes(pass, c).row_group();
        if (pass.last_streamed > 0) drain_stores();
    }

  private:
    using V = Vector<double, bits>;
    using Index = Vector<std::int64_t, bits>;
    using C = Complex<V>;
    using At = std::int64_t;
    struct __attribute__((packed, aligned(8), may_alias)) Loose {
        V value;
    };
    static constexpr At run = 16;  // powers of a column's root in a row that have one factor in common

    // What element k of each line of a group of columns is multiplied by, k = q + stride i: three factors of a table
    // each, that of q / run being looked up where q begins a run. Each number is rounded five times at most.
    struct Turns {
        C of_rest[run], of_outer[8];
        C of_run{};
    };

    Lanes(Pass const& pass, At line)
        : pass_(pass), line_(line), here_(pass.lines - line < lanes ? pass.lines - line : lanes) {}

    [[nodiscard]] double* buffer(int which) const { return pass_.scratch + which * 2 * lanes * pass_.line.length; }

    static V loose(double const* from) { return reinterpret_cast<Loose const*>(from)->value; }
    static C kept(double const* from, At i) {
        return {*reinterpret_cast<V const*>(from + 2 * lanes * i),
                *reinterpret_cast<V const*>(from + 2 * lanes * i + lanes)};
    }
    static void keep(double* to, At i, C value) {
        *reinterpret_cast<V*>(to + 2 * lanes * i) = value.re;
        *reinterpret_cast<V*>(to + 2 * lanes * i + lanes) = value.im;
    }

    // Neighbours in memory become elements of vectors, and back.
    static constexpr Index index(At first, At step, At jump) {
        Index made{};
        for (At l = 0; l < lanes; ++l) made[l] = first + (l / 2) * step + (l % 2) * jump;
        return made;
    }
    static C apart(V low, V high) {
        Index even{}, odd{};
        for (At l = 0; l < lanes; ++l) even[l] = 2 * l, odd[l] = 2 * l + 1;
        return {__builtin_shuffle(low, high, even), __builtin_shuffle(low, high, odd)};
    }
    static V together(C value, At first) { return __builtin_shuffle(value.re, value.im, index(first, 1, lanes)); }

    [[nodiscard]] C fetched(double const* from) const {
        if (here_ == lanes) return apart(loose(from), loose(from + lanes));
        C made{};
        for (At l = 0; l < here_; ++l) made.re[l] = from[2 * l], made.im[l] = from[2 * l + 1];
        return made;
    }
    template <bool streaming>
    void put(At k, C value) const {
        double* const to = place(k);
        if (here_ != lanes) {
            for (At l = 0; l < here_; ++l) to[2 * l] = value.re[l], to[2 * l + 1] = value.im[l];
            return;
        }
        if (streaming && k >= pass_.first_streamed && k < pass_.last_streamed) {
            store_streaming(reinterpret_cast<V*>(to), together(value, 0));
            store_streaming(reinterpret_cast<V*>(to + lanes), together(value, lanes / 2));
        } else {
            reinterpret_cast<Loose*>(to)->value = together(value, 0);
            reinterpret_cast<Loose*>(to + lanes)->value = together(value, lanes / 2);
        }
    }
    // Of vectors that send whole lines of the cache: others would send every line in parts, at great cost.
    [[nodiscard]] bool may_stream() const {
        if (sizeof(V) < 32 || pass_.last_streamed == 0) return false;
        At const one = pass_.first_streamed;
        auto const apart_by = static_cast<std::uintptr_t>(pass_.out_each == nullptr ? 16 * pass_.out_pitch : 0);
        return (reinterpret_cast<std::uintptr_t>(place(one)) | apart_by) % sizeof(V) == 0;
    }

    // Where element k of the first line of this group comes from, and where it goes.
    [[nodiscard]] double const* origin(At k) const {
        return 2 * line_ + (pass_.in_each != nullptr ? pass_.in_each[k] : pass_.in + 2 * k * pass_.in_pitch);
    }
    [[nodiscard]] double* place(At k) const {
        return 2 * line_ + (pass_.out_each != nullptr ? pass_.out_each[k] : pass_.out + 2 * k * pass_.out_pitch);
    }

    [[nodiscard]] C root(At power) const {  // of each column, to this power
        Roots const& roots = *pass_.roots;
        C made{};
        for (At l = 0; l < here_; ++l) {
            At const e = power * (pass_.first + line_ + l);
            double const *const f = roots.fine + 2 * (e & roots.mask), *const c = roots.coarse + 2 * (e >> roots.shift);
            made.re[l] = f[0] * c[0] - f[1] * c[1];
            made.im[l] = f[0] * c[1] + f[1] * c[0];
        }
        return made;
    }
    void begin(Turns& turns, Stage const& last) const {
        for (At i = 0; i < run && i < last.stride; ++i) turns.of_rest[i] = root(i);
        for (At i = 1; i < last.radix; ++i) turns.of_outer[i] = root(i * last.stride);
    }

    // All but the last stage; from the memory of columns or from a buffer.
    template <int radix, bool fetches>
    void stage(Stage const& at, double const* from, double* to) const {
        At const apart_by = at.parts * at.stride;
        for (At p = 0; p < at.parts; ++p) {
            double const* const w = at.twiddles + 2 * (radix - 1) * p;
            for (At q = 0; q < at.stride; ++q) {
                C x[radix];
#pragma GCC unroll 8
                for (At j = 0; j < radix; ++j) {
                    At const i = q + at.stride * p + apart_by * j;
                    if constexpr (fetches)
                        x[j] = fetched(origin(i));
                    else
                        x[j] = kept(from, i);
                }
                Butterfly<radix, V>::apply(x);
                double* const out = to + 2 * lanes * (q + at.stride * radix * p);
                keep(out, 0, x[0]);
#pragma GCC unroll 8
                for (At j = 1; j < radix; ++j) keep(out, at.stride * j, x[j].times(w[2 * j - 2], w[2 * j - 1]));
            }
        }
    }
    template <bool fetches>
    void any_stage(Stage const& at, double const* from, double* to) const {
        switch (at.radix) {
            case 2:
                return stage<2, fetches>(at, from, to);
            case 3:
                return stage<3, fetches>(at, from, to);
            case 4:
                return stage<4, fetches>(at, from, to);
            case 5:
                return stage<5, fetches>(at, from, to);
            default:
                return stage<8, fetches>(at, from, to);
        }
    }

    template <int radix, bool turned, bool streaming>
    void last_stage(Stage const& at, double const* from) const {
        Turns turns;
        if constexpr (turned) begin(turns, at);
        for (At q = 0; q < at.stride; ++q) {
            C x[radix];
#pragma GCC unroll 8
            for (At j = 0; j < radix; ++j) x[j] = kept(from, q + at.stride * j);
            Butterfly<radix, V>::apply(x);
            if constexpr (turned) {
                if (q % run == 0) turns.of_run = root(q);
                C const turn = turns.of_run * turns.of_rest[q % run];
                x[0] = x[0] * turn;
#pragma GCC unroll 8
                for (At j = 1; j < radix; ++j) x[j] = x[j] * (turn * turns.of_outer[j]);
            }
#pragma GCC unroll 8
            for (At j = 0; j < radix; ++j) put<streaming>(q + at.stride * j, x[j]);
        }
    }
    template <bool turned, bool streaming>
    void any_last(Stage const& at, double const* from) const {
        switch (at.radix) {
            case 1:
                return last_stage<1, turned, streaming>(at, from);
            case 2:
                return last_stage<2, turned, streaming>(at, from);
            case 3:
                return last_stage<3, turned, streaming>(at, from);
            case 4:
                return last_stage<4, turned, streaming>(at, from);
            case 5:
                return last_stage<5, turned, streaming>(at, from);
            default:
                return last_stage<8, turned, streaming>(at, from);
        }
    }
    void finish(Stage const& at, double const* from) const {
        bool const turned = pass_.roots != nullptr;
        if (may_stream()) return turned ? any_last<true, true>(at, from) : any_last<false, true>(at, from);
        return turned ? any_last<true, false>(at, from) : any_last<false, false>(at, from);
    }

    void column_group() const {
        int const last = pass_.line.stages - 1;
        if (last == 0) {
            for (At i = 0; i < pass_.line.length; ++i) keep(buffer(0), i, fetched(origin(i)));
        } else {
            any_stage<true>(pass_.line.stage[0], nullptr, buffer(0));
        }
        from_buffer(last == 0 ? 0 : 1);
    }
    void from_buffer(int stage) const {
        int which = 0;
        for (; stage < pass_.line.stages - 1; ++stage, which = 1 - which)
            any_stage<false>(pass_.line.stage[stage], buffer(which), buffer(1 - which));
        finish(pass_.line.stage[stage], buffer(which));
    }

    // Squares of lanes x lanes numbers, transposed on the way into the buffer.
    void row_group() const {
        double* to = buffer(0);
        for (Piece const* piece = pass_.pieces; piece != pass_.pieces + pass_.piece_count; ++piece) {
            double const* const in = piece->in + 2 * line_ * piece->pitch;
            At j = 0;
            if (here_ == lanes)
                for (; j + lanes <= piece->width; j += lanes) square(in + 2 * j, piece->pitch, to + 2 * lanes * j);
            for (; j < piece->width; ++j) {
                C made{};
                for (At l = 0; l < here_; ++l) {
                    made.re[l] = in[2 * (l * piece->pitch + j)];
                    made.im[l] = in[2 * (l * piece->pitch + j) + 1];
                }
                keep(to, j, made);
            }
            to += 2 * lanes * piece->width;
        }
        from_buffer(0);
    }
    static void square(double const* in, At pitch, double* to) {
        V re[lanes], im[lanes];
#pragma GCC unroll 8
        for (At l = 0; l < lanes; ++l) {
            C const row = apart(loose(in + 2 * l * pitch), loose(in + 2 * l * pitch + lanes));
            re[l] = row.re;
            im[l] = row.im;
        }
        transpose<1>(re);
        transpose<1>(im);
#pragma GCC unroll 8
        for (At l = 0; l < lanes; ++l) keep(to, l, {re[l], im[l]});
    }
    // Exchanges the squares of half x half elements off the diagonal, then those of twice the size.
    template <At half>
    static void transpose(V* rows) {
        if constexpr (half < lanes) {
            Index low{}, high{};
            for (At l = 0; l < lanes; ++l) {
                low[l] = (l & half) == 0 ? l : lanes + l - half;
                high[l] = (l & half) == 0 ? l + half : lanes + l;
            }
#pragma GCC unroll 8
            for (At i = 0; i < lanes; ++i) {
                if ((i & half) != 0) continue;
                V const a = rows[i], b = rows[i + half];
                rows[i] = __builtin_shuffle(a, b, low);
                rows[i + half] = __builtin_shuffle(a, b, high);
            }
            transpose<2 * half>(rows);
        }
    }

    Pass const& pass_;
    At line_, here_;
};

template <int bits>
Passes passes() {
    return {Lanes<bits>::columns, Lanes<bits>::rows, bits / 64, bits == 512 ? 8 : 4};
}

}  // namespace octant::fft
