// Groups of lines with vectors of one width, and what a width offers.
#pragma once

#include "kernels/fft/folded.hpp"
#include "kernels/fft/registers.hpp"
#include "kernels/fft/stages.hpp"

#include <cstddef>
#include <cstdint>

namespace octant::fft {

template <class Real, int width>
class Lanes : Vectors<Real, width> {
    using Of = Vectors<Real, width>;
    using Of::lanes, Of::kept, Of::keep;
    using typename Of::At, typename Of::C, typename Of::V;
    using Pass = PassOf<Real>;
    using Stage = StageOf<Real>;

  public:
    static void columns(Pass const& pass) {
        for (At c = 0; c < pass.lines; c += lanes) Lanes(pass, c).column_group();
        if (pass.last_streamed > 0) drain_stores();
    }
    static void rows(Pass const& pass) {
        for (At c = 0; c < pass.lines; c += lanes) {
            Lanes const group(pass, c);
            group.load_rows();
            group.from_buffer(0);
        }
        if (pass.last_streamed > 0) drain_stores();
    }
    static void rows_as_rows(Pass const& pass) {
        for (At c = 0; c < pass.lines; c += lanes) {
            Lanes const group(pass, c);
            group.load_rows();
            group.store_rows();
        }
    }

  private:
    static constexpr At run = 16;  // powers of a column's root in a row that have one factor in common

    // What element k of each line of a group of columns is multiplied by, k = q + stride i: three factors of a table
    // each, that of q / run being looked up where q begins a run. Each number is rounded five times at most.
    struct Turns {
        C of_rest[run], of_outer[8];
        C of_run{};
    };

    Lanes(Pass const& pass, At line)
        : pass_(pass), line_(line), here_(pass.lines - line < lanes ? pass.lines - line : lanes) {}

    [[nodiscard]] Real* buffer(int which) const { return pass_.scratch + which * 2 * lanes * pass_.line.length; }

    [[nodiscard]] C fetched(Real const* from) const {
        if (here_ == lanes) return Of::fetch(from);
        C made{};
        for (At l = 0; l < here_; ++l) Of::set(made.re, l, from[2 * l]), Of::set(made.im, l, from[2 * l + 1]);
        return made;
    }
    template <bool streaming>
    void put(At k, C value) const {
        Real* const to = place(k);
        if (here_ != lanes) {
            for (At l = 0; l < here_; ++l)
                to[2 * l] = Of::element(value.re, l), to[2 * l + 1] = Of::element(value.im, l);
            return;
        }
        if constexpr (streaming && sizeof(V) >= min_streamed) {
            if (k >= pass_.first_streamed && k < pass_.last_streamed) {
                store_streaming(reinterpret_cast<V*>(to), Of::template together<0>(value));
                store_streaming(reinterpret_cast<V*>(to + lanes), Of::template together<1>(value));
                return;
            }
        }
        Of::put(to, value);
    }
    // Of vectors that send whole lines of the cache: others would send every line in parts, at great cost.
    static constexpr std::size_t min_streamed = 32;
    [[nodiscard]] bool may_stream() const {
        if (sizeof(V) < min_streamed || pass_.last_streamed == 0) return false;
        At const one = pass_.first_streamed;
        auto const apart_by =
            pass_.out_each == nullptr ? sizeof(Real) * 2 * static_cast<std::size_t>(pass_.out_pitch) : 0;
        return (reinterpret_cast<std::uintptr_t>(place(one)) | apart_by) % sizeof(V) == 0;
    }

    // Where element k of the first line of this group comes from, and where it goes.
    [[nodiscard]] Real const* origin(At k) const {
        return 2 * line_ + (pass_.in_each != nullptr ? pass_.in_each[k] : pass_.in + 2 * k * pass_.in_pitch);
    }
    [[nodiscard]] Real* place(At k) const {
        return 2 * line_ + (pass_.out_each != nullptr ? pass_.out_each[k] : pass_.out + 2 * k * pass_.out_pitch);
    }

    [[nodiscard]] C root(At power) const {  // of each column, to this power
        RootsOf<Real> const& roots = *pass_.roots;
        C made{};
        for (At l = 0; l < here_; ++l) {
            At const e = power * (pass_.first + line_ + l);
            Real const *const f = roots.fine + 2 * (e & roots.mask), *const c = roots.coarse + 2 * (e >> roots.shift);
            Of::set(made.re, l, f[0] * c[0] - f[1] * c[1]);
            Of::set(made.im, l, f[0] * c[1] + f[1] * c[0]);
        }
        return made;
    }
    void begin(Turns& turns, Stage const& last) const {
        for (At i = 0; i < run && i < last.stride; ++i) turns.of_rest[i] = root(i);
        for (At i = 1; i < last.radix; ++i) turns.of_outer[i] = root(i * last.stride);
    }

    template <int radix, bool turned, bool streaming>
    void last_stage(Stage const& at, Real const* from) const {
        Turns turns;
        if constexpr (turned) begin(turns, at);
        for (At q = 0; q < at.stride; ++q) {
            C x[radix];
#pragma GCC unroll 8
            for (At j = 0; j < radix; ++j) x[j] = kept(from, q + at.stride * j);
            Butterfly<radix, C>::apply(x);
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
    void any_last(Stage const& at, Real const* from) const {
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
    void finish(Stage const& at, Real const* from) const {
        bool const turned = pass_.roots != nullptr;
        if (may_stream()) return turned ? any_last<true, true>(at, from) : any_last<false, true>(at, from);
        return turned ? any_last<true, false>(at, from) : any_last<false, false>(at, from);
    }

    void column_group() const {
        auto const from_memory = [this](At i) { return fetched(origin(i)); };
        int const last = pass_.line.stages - 1;
        if (last == 0) {
            for (At i = 0; i < pass_.line.length; ++i) keep(buffer(0), i, from_memory(i));
        } else {
            Of::any_stage(pass_.line.stage[0], from_memory, buffer(0));
        }
        from_buffer(last == 0 ? 0 : 1);
    }
    // All stages but the last; which buffer they end in.
    [[nodiscard]] Real* before_last(int stage) const {
        int which = 0;
        for (; stage < pass_.line.stages - 1; ++stage, which = 1 - which)
            Of::any_stage(
                pass_.line.stage[stage], [from = buffer(which)](At i) { return kept(from, i); }, buffer(1 - which));
        return buffer(which);
    }
    void from_buffer(int stage) const { finish(pass_.line.stage[pass_.line.stages - 1], before_last(stage)); }

    // Squares of lanes x lanes numbers, transposed on the way into the buffer.
    void load_rows() const {
        Real* to = buffer(0);
        for (PieceOf<Real> const* piece = pass_.pieces; piece != pass_.pieces + pass_.piece_count; ++piece) {
            Real const* const in = piece->in + 2 * line_ * piece->pitch;
            At j = 0;
            if (here_ == lanes)
                for (; j + lanes <= piece->width; j += lanes) square(in + 2 * j, piece->pitch, to + 2 * lanes * j);
            for (; j < piece->width; ++j) {
                C made{};
                for (At l = 0; l < here_; ++l) {
                    Of::set(made.re, l, in[2 * (l * piece->pitch + j)]);
                    Of::set(made.im, l, in[2 * (l * piece->pitch + j) + 1]);
                }
                keep(to, j, made);
            }
            to += 2 * lanes * piece->width;
        }
    }
    static void square(Real const* in, At pitch, Real* to) {
        C x[lanes];
#pragma GCC unroll 16
        for (At l = 0; l < lanes; ++l) x[l] = Of::fetch(in + 2 * l * pitch);
        Of::transpose(x);
#pragma GCC unroll 16
        for (At l = 0; l < lanes; ++l) keep(to, l, x[l]);
    }
    // The last stage, and back into rows.
    void store_rows() const {
        Real* const from = before_last(0);
        Of::any_last(
            pass_.line.stage[pass_.line.stages - 1], [from](At i) { return kept(from, i); },
            [from](At k, C x) { keep(from, k, x); });
        Real* const out = pass_.out + 2 * line_ * pass_.out_pitch;
        At k = 0;
        if (here_ == lanes)
            for (; k + lanes <= pass_.line.length; k += lanes) {
                C x[lanes];
#pragma GCC unroll 16
                for (At l = 0; l < lanes; ++l) x[l] = kept(from, k + l);
                Of::transpose(x);
#pragma GCC unroll 16
                for (At l = 0; l < lanes; ++l) Of::put(out + 2 * (l * pass_.out_pitch + k), x[l]);
            }
        for (; k < pass_.line.length; ++k) {
            C const x = kept(from, k);
            for (At l = 0; l < here_; ++l) {
                out[2 * (l * pass_.out_pitch + k)] = Of::element(x.re, l);
                out[2 * (l * pass_.out_pitch + k) + 1] = Of::element(x.im, l);
            }
        }
    }

    Pass const& pass_;
    At line_, here_;
};

template <class Real, int width>
ShortCall<Real> in_registers([[maybe_unused]] std::int64_t n) {
    if constexpr (width > 1) return Registers<Real, width>::call(n);
    return nullptr;
}

template <class Real, int width>
PassesOf<Real> passes() {
    using Of = Lanes<Real, width>;
    using One = Folded<Real, width>;
    return {Of::columns,
            Of::rows,
            Of::rows_as_rows,
            One::transform,
            One::split,
            in_registers<Real, width>,
            width,
            width * static_cast<int>(sizeof(Real)) == 64 ? 8 : 4};
}

}  // namespace octant::fft
