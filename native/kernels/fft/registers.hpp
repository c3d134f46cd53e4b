// Short transforms that stay in registers. The real and the imaginary part of a number lie side by side in a vector, as
// in memory, so that nothing is sorted before the first butterfly.
#pragma once

#include "kernels/fft/butterflies.hpp"
#include "kernels/fft/passes.hpp"
#include "kernels/fft/squares.hpp"

#include <cstdint>

namespace octant::fft {

template <class Number, int width>
class Registers {
    using Of = Squares<Number, width, 2>;
    using At = typename Of::At;
    using V = typename Of::V;
    static constexpr At across = Of::side;  // complex numbers of a vector
    struct __attribute__((packed, aligned(alignof(Number)), may_alias)) Unaligned {
        V value;
    };

    // As Complex, of vectors in which both parts alternate.
    struct C {
        using Real = Number;
        V value;

        [[gnu::always_inline]] friend inline C operator+(C a, C b) { return {a.value + b.value}; }
        [[gnu::always_inline]] friend inline C operator-(C a, C b) { return {a.value - b.value}; }
        [[nodiscard, gnu::always_inline]] inline C scaled(Number by) const { return {value * by}; }
        [[nodiscard, gnu::always_inline]] inline C times(Number c, Number s) const {
            return {value * c + exchanged() * (alternating() * -s)};
        }
        [[nodiscard, gnu::always_inline]] inline C times_minus_i() const { return {exchanged() * alternating()}; }
        // A product with numbers of which all real parts stand at `by`, twice, and behind them -im, im.
        [[nodiscard, gnu::always_inline]] inline C times(Number const* by) const {
            return {value * *reinterpret_cast<V const*>(by) + exchanged() * *reinterpret_cast<V const*>(by + width)};
        }

      private:
        [[nodiscard, gnu::always_inline]] inline V exchanged() const {
            typename Of::Index order{};
            for (At l = 0; l < width; ++l) order[l] = static_cast<typename Of::Integer>(l ^ 1);
            return __builtin_shuffle(value, order);
        }
        static constexpr V alternating() {
            V signs{};
            for (At l = 0; l < width; ++l) signs[l] = Number(l % 2 == 0 ? 1 : -1);
            return signs;
        }
    };

  public:
    [[nodiscard]] static ShortCall<Number> call(At n) {
        if (n == 4 * across) return one<4>();
        if (n == 8 * across) return one<8>();
        if (n == 16 * across) return one<16>();
        return nullptr;
    }

  private:
    template <int down>
    static constexpr ShortCall<Number> one() {
        if constexpr (down % across == 0) return transform<down>;
        return nullptr;
    }

    // Number j = across j1 + j2 is element j2 of register j1; k = k1 + down k2.
    template <int down>
    static void transform(Number const* turns, Number const* in, At in_pitch, Number* out, At out_pitch, At lines) {
        for (At c = 0; c < lines; ++c, in += 2 * in_pitch, out += 2 * out_pitch) {
            C x[down];
#pragma GCC unroll 16
            for (At j = 0; j < down; ++j) x[j].value = reinterpret_cast<Unaligned const*>(in + width * j)->value;
            Butterfly<down, C>::apply(x);
            if constexpr (across > 1) {
#pragma GCC unroll 16
                for (At k = 1; k < down; ++k) x[k] = x[k].times(turns + 2 * width * (k - 1));
            }
#pragma GCC unroll 16
            for (At k = 0; k < down; k += across) {
                V square[across];
#pragma GCC unroll 16
                for (At l = 0; l < across; ++l) square[l] = x[k + l].value;
                Of::transpose(square);
#pragma GCC unroll 16
                for (At l = 0; l < across; ++l) x[k + l].value = square[l];
                Butterfly<across, C>::apply(x + k);
#pragma GCC unroll 16
                for (At l = 0; l < across; ++l)
                    reinterpret_cast<Unaligned*>(out + 2 * (k + down * l))->value = x[k + l].value;
            }
        }
    }
};

}  // namespace octant::fft
