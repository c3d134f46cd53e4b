// A function called over vectors, once for every way to call it. What is compiled for one instruction set must not leak
// into the rest of the program, so there is no other header.
#pragma once

#include "octant/vector.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace vecmath {

using Entry = void (*)();  // of a library; its true type is known where it is called

struct Called {
    Entry entry = nullptr;  // none where the loop was compiled here
    std::int64_t mode = 0;  // of Intel's vector library
};

// y[i] = f(a[i], b[i]); `b` is not read where the function has one input.
template <class Real>
using Loop = void (*)(Called called, Real const* a, Real const* b, Real* y, std::size_t n);

template <class Real>
struct Loops {
    Loop<Real> one = nullptr, two = nullptr;  // by inputs
};

struct Calls {
    Loops<double> doubles;
    Loops<float> singles;
};

template <class Real>
struct Estimates {  // from the processor's estimate and Newton's iteration
    Loop<Real> div = nullptr, recip = nullptr, sqrt = nullptr, rsqrt = nullptr;
};

template <class V, class Real>
inline V loaded(Real const* from) {
    V value;
    std::memcpy(&value, from, sizeof(V));
    return value;
}

// How the last elements are put into a vector, and taken from it. It is one of ones else: the logarithm of a zero would
// take the slow way. By copies where the processor has no masks.
struct Copied {
    template <class V, class Real>
    static V loaded(Real const* from, std::size_t n) {
        V value = V{} + Real{1};
        std::memcpy(&value, from, n * sizeof(Real));
        return value;
    }
    template <class V, class Real>
    static void store(Real* to, V value, std::size_t n) {
        std::memcpy(to, &value, n * sizeof(Real));
    }
};

template <class Part, class Real, int bits, class F>
inline void over_one(F f, Real const* a, Real* y, std::size_t n) {
    using V = octant::Vector<Real, bits>;
    constexpr std::size_t lanes = sizeof(V) / sizeof(Real);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        V const value = f(loaded<V>(a + i));
        std::memcpy(y + i, &value, sizeof(V));
    }
    if (i < n) Part::store(y + i, f(Part::template loaded<V>(a + i, n - i)), n - i);
}

template <class Part, class Real, int bits, class F>
inline void over_two(F f, Real const* a, Real const* b, Real* y, std::size_t n) {
    using V = octant::Vector<Real, bits>;
    constexpr std::size_t lanes = sizeof(V) / sizeof(Real);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        V const value = f(loaded<V>(a + i), loaded<V>(b + i));
        std::memcpy(y + i, &value, sizeof(V));
    }
    if (i < n)
        Part::store(y + i, f(Part::template loaded<V>(a + i, n - i), Part::template loaded<V>(b + i, n - i)), n - i);
}

template <class Part, class Real, int bits>
void call_one(Called called, Real const* a, Real const* /*b*/, Real* y, std::size_t n) {
    using V = octant::Vector<Real, bits>;
    over_one<Part, Real, bits>(reinterpret_cast<V (*)(V)>(called.entry), a, y, n);
}

template <class Part, class Real, int bits>
void call_two(Called called, Real const* a, Real const* b, Real* y, std::size_t n) {
    using V = octant::Vector<Real, bits>;
    over_two<Part, Real, bits>(reinterpret_cast<V (*)(V, V)>(called.entry), a, b, y, n);
}

template <class Part, int bits_double, int bits_single>
constexpr Calls calls() {
    return {{call_one<Part, double, bits_double>, call_two<Part, double, bits_double>},
            {call_one<Part, float, bits_single>, call_two<Part, float, bits_single>}};
}

// Newton's iteration on an estimate that has 1/2^12 to 1/2^14 of error; each step doubles the right bits. No input may
// be zero, infinite or below the normal numbers.
template <class V>
inline V refined_reciprocal(V x, V estimate, int steps) {
    for (int step = 0; step < steps; ++step) estimate += estimate * (1 - x * estimate);
    return estimate;
}

template <class V>
inline V refined_root(V x, V estimate, int steps) {  // of 1/sqrt(x)
    for (int step = 0; step < steps; ++step) estimate += estimate * (0.5F * (1 - x * estimate * estimate));
    return estimate;
}

// `Of` gives the processor's estimates: Of::reciprocal, Of::root and the steps that they need.
template <class Part, class Of, class Real, int bits>
struct Estimated {
    using V = octant::Vector<Real, bits>;
    static V reciprocal(V x) { return refined_reciprocal(x, Of::reciprocal(x), Of::steps); }
    static V root(V x) { return refined_root(x, Of::root(x), Of::steps); }
    static void recip(Called, Real const* a, Real const*, Real* y, std::size_t n) {
        over_one<Part, Real, bits>([](V x) { return reciprocal(x); }, a, y, n);
    }
    static void rsqrt(Called, Real const* a, Real const*, Real* y, std::size_t n) {
        over_one<Part, Real, bits>([](V x) { return root(x); }, a, y, n);
    }
    static void div(Called, Real const* a, Real const* b, Real* y, std::size_t n) {
        over_two<Part, Real, bits>(
            [](V top, V x) {
                V const r = reciprocal(x), quotient = top * r;
                return quotient + r * (top - quotient * x);
            },
            a, b, y, n);
    }
    static void sqrt(Called, Real const* a, Real const*, Real* y, std::size_t n) {
        over_one<Part, Real, bits>(
            [](V x) {
                V const r = root(x), s = x * r;
                return s + 0.5F * r * (x - s * s);
            },
            a, y, n);
    }
    static constexpr Estimates<Real> loops() { return {div, recip, sqrt, rsqrt}; }
};

Calls calls_scalar();
Calls calls_128();
Calls calls_256();
Calls calls_512();
Estimates<float> estimates_single_256();
Estimates<double> estimates_double_512();
Estimates<float> estimates_single_512();

}  // namespace vecmath
