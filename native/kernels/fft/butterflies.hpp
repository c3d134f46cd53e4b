// Transforms of length 1, 2, 3, 4, 5, 8 and 16, forward, of numbers whose real and imaginary parts are vectors (or, of
// one lane, plain numbers).
#pragma once

namespace octant::fft {

template <class Number, class V>
struct Complex {
    using Real = Number;
    V re, im;

    // Never a function of its own: of plain numbers it would be one for all instruction sets.
    [[gnu::always_inline]] friend inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
    [[gnu::always_inline]] friend inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
    [[gnu::always_inline]] friend inline Complex operator*(Complex a, Complex b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    [[nodiscard, gnu::always_inline]] inline Complex scaled(Real by) const { return {re * by, im * by}; }
    [[nodiscard, gnu::always_inline]] inline Complex times(Real c, Real s) const {
        return {re * c - im * s, re * s + im * c};
    }
    [[nodiscard, gnu::always_inline]] inline Complex times_minus_i() const { return {im, -re}; }
};

// Of `C`: complex numbers with +, -, scaled, times and times_minus_i.
template <int radix, class C>
struct Butterfly {
    using Real = typename C::Real;

    [[gnu::always_inline]] static inline void apply(C* x) {
        if constexpr (radix == 2) two(x);
        if constexpr (radix == 3) three(x);
        if constexpr (radix == 4) four(x[0], x[1], x[2], x[3]);
        if constexpr (radix == 5) five(x);
        if constexpr (radix == 8) eight(x);
        if constexpr (radix == 16) sixteen(x);
    }

  private:
    [[gnu::always_inline]] static inline void two(C* x) {
        C const difference = x[0] - x[1];
        x[0] = x[0] + x[1];
        x[1] = difference;
    }
    [[gnu::always_inline]] static inline void three(C* x) {
        constexpr Real half = 0.5, sine = static_cast<Real>(0.86602540378443864676);
        C const sum = x[1] + x[2], turned = (x[1] - x[2]).times_minus_i().scaled(sine);
        C const middle = x[0] - sum.scaled(half);
        x[0] = x[0] + sum;
        x[1] = middle + turned;
        x[2] = middle - turned;
    }
    [[gnu::always_inline]] static inline void four(C& a, C& b, C& c, C& d) {
        C const even = a + c, odd = a - c, sum = b + d, turned = (b - d).times_minus_i();
        a = even + sum;
        b = odd + turned;
        c = even - sum;
        d = odd - turned;
    }
    [[gnu::always_inline]] static inline void five(C* x) {
        constexpr auto cos1 = static_cast<Real>(0.30901699437494742410),
                       cos2 = static_cast<Real>(-0.80901699437494742410);
        constexpr auto sin1 = static_cast<Real>(0.95105651629515357212),
                       sin2 = static_cast<Real>(0.58778525229247312917);
        C const outer = x[1] + x[4], inner = x[2] + x[3], far = x[1] - x[4], near = x[2] - x[3];
        C const first = x[0] + outer.scaled(cos1) + inner.scaled(cos2);
        C const second = x[0] + outer.scaled(cos2) + inner.scaled(cos1);
        C const turned_first = (far.scaled(sin1) + near.scaled(sin2)).times_minus_i();
        C const turned_second = (far.scaled(sin2) - near.scaled(sin1)).times_minus_i();
        x[0] = x[0] + outer + inner;
        x[1] = first + turned_first;
        x[2] = second + turned_second;
        x[3] = second - turned_second;
        x[4] = first - turned_first;
    }
    [[gnu::always_inline]] static inline void eight(C* x) {
        constexpr auto root = static_cast<Real>(0.70710678118654752440);
        C s0 = x[0] + x[4], s1 = x[1] + x[5], s2 = x[2] + x[6], s3 = x[3] + x[7];
        C d0 = x[0] - x[4], e1 = x[1] - x[5], d2 = (x[2] - x[6]).times_minus_i(), e3 = x[3] - x[7];
        C d1 = (e1 + e1.times_minus_i()).scaled(root);
        C d3 = (e3.times_minus_i() - e3).scaled(root);
        four(s0, s1, s2, s3);
        four(d0, d1, d2, d3);
        x[0] = s0, x[1] = d0, x[2] = s1, x[3] = d1, x[4] = s2, x[5] = d2, x[6] = s3, x[7] = d3;
    }
    [[gnu::always_inline]] static inline void sixteen(C* x) {
        constexpr auto cos1 = static_cast<Real>(0.92387953251128675613),
                       sin1 = static_cast<Real>(0.38268343236508977173);
        constexpr auto root = static_cast<Real>(0.70710678118654752440);
        for (int i = 0; i < 4; ++i) four(x[i], x[i + 4], x[i + 8], x[i + 12]);
        x[5] = x[5].times(cos1, -sin1);
        x[6] = x[6].times(root, -root);
        x[7] = x[7].times(sin1, -cos1);
        x[9] = x[9].times(root, -root);
        x[10] = x[10].times_minus_i();
        x[11] = x[11].times(-root, -root);
        x[13] = x[13].times(sin1, -cos1);
        x[14] = x[14].times(-root, -root);
        x[15] = x[15].times(-cos1, sin1);
        for (int i = 0; i < 16; i += 4) four(x[i], x[i + 1], x[i + 2], x[i + 3]);
        for (int i = 0; i < 4; ++i)  // they stand in the order of digits exchanged
            for (int j = i + 1; j < 4; ++j) {
                C const kept = x[4 * i + j];
                x[4 * i + j] = x[4 * j + i];
                x[4 * j + i] = kept;
            }
    }
};

}  // namespace octant::fft
