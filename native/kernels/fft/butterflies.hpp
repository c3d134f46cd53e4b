// Transforms of length 1, 2, 3, 4, 5 and 8, forward, of numbers whose real and imaginary parts are vectors.
#pragma once

namespace octant::fft {

template <class V>
struct Complex {
    V re, im;

    friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
    friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
    friend Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
    [[nodiscard]] Complex scaled(double by) const { return {re * by, im * by}; }
    [[nodiscard]] Complex times(double c, double s) const { return {re * c - im * s, re * s + im * c}; }
    [[nodiscard]] Complex times_minus_i() const { return {im, -re}; }
};

template <int radix, class V>
struct Butterfly {
    using C = Complex<V>;

    static void apply(C* x) {
        if constexpr (radix == 2) two(x);
        if constexpr (radix == 3) three(x);
        if constexpr (radix == 4) four(x[0], x[1], x[2], x[3]);
        if constexpr (radix == 5) five(x);
        if constexpr (radix == 8) eight(x);
    }

  private:
    static void two(C* x) {
        C const difference = x[0] - x[1];
        x[0] = x[0] + x[1];
        x[1] = difference;
    }
    static void three(C* x) {
        constexpr double sine = 0.86602540378443864676;
        C const sum = x[1] + x[2], turned = (x[1] - x[2]).times_minus_i().scaled(sine);
        C const middle = x[0] - sum.scaled(0.5);
        x[0] = x[0] + sum;
        x[1] = middle + turned;
        x[2] = middle - turned;
    }
    static void four(C& a, C& b, C& c, C& d) {
        C const even = a + c, odd = a - c, sum = b + d, turned = (b - d).times_minus_i();
        a = even + sum;
        b = odd + turned;
        c = even - sum;
        d = odd - turned;
    }
    static void five(C* x) {
        constexpr double cos1 = 0.30901699437494742410, cos2 = -0.80901699437494742410;
        constexpr double sin1 = 0.95105651629515357212, sin2 = 0.58778525229247312917;
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
    static void eight(C* x) {
        constexpr double root = 0.70710678118654752440;
        C s0 = x[0] + x[4], s1 = x[1] + x[5], s2 = x[2] + x[6], s3 = x[3] + x[7];
        C d0 = x[0] - x[4], e1 = x[1] - x[5], d2 = (x[2] - x[6]).times_minus_i(), e3 = x[3] - x[7];
        C d1 = C{e1.re + e1.im, e1.im - e1.re}.scaled(root);
        C d3 = C{e3.im - e3.re, -e3.re - e3.im}.scaled(root);
        four(s0, s1, s2, s3);
        four(d0, d1, d2, d3);
        x[0] = s0, x[1] = d0, x[2] = s1, x[3] = d1, x[4] = s2, x[5] = d2, x[6] = s3, x[7] = d3;
    }
};

}  // namespace octant::fft
