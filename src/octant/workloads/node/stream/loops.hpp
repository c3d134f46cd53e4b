// The five loops, once for every vector width and kind of store. `n` is a multiple of 64 and every pointer is aligned
// to 64 bytes. No other header: what is compiled for one instruction set must not leak into the rest of the program.
#pragma once

#include "octant/vector.hpp"

#include <cstddef>

namespace stream {

// a[i] = f(b[i], c[i]); the sum where nothing is written, else 0.
using Loop = double (*)(double* a, double const* b, double const* c, std::ptrdiff_t n);
inline constexpr double factor = 3.0;

template <int bits>
struct Loops {
    using V = octant::Vector<double, bits>;
    static constexpr std::ptrdiff_t lanes = bits / 64;

    static V at(double const* from, std::ptrdiff_t i) { return *reinterpret_cast<V const*>(from + i); }

    template <bool streaming>
    static void put(double* to, std::ptrdiff_t i, V value) {
        if constexpr (streaming)
            octant::store_streaming(reinterpret_cast<V*>(to + i), value);
        else
            *reinterpret_cast<V*>(to + i) = value;
    }

    // Calls body(i) for each vector, 16 of them an iteration: in the first cache four cost 6 % more time.
    template <class Body>
    static void each(std::ptrdiff_t n, Body const& body) {
        constexpr std::ptrdiff_t unrolled = 16;
        std::ptrdiff_t i = 0;
        for (; i + unrolled * lanes <= n; i += unrolled * lanes)
#pragma GCC unroll 16
            for (std::ptrdiff_t k = 0; k < unrolled; ++k) body(i + k * lanes);
        for (; i < n; i += lanes) body(i);
    }

    static double load(double*, double const* b, double const*, std::ptrdiff_t n) {
        constexpr std::ptrdiff_t partial = 64 / lanes < 8 ? 64 / lanes : 8;  // additions wait for nobody
        V sums[partial] = {};
        for (std::ptrdiff_t i = 0; i < n; i += partial * lanes)
#pragma GCC unroll 8
            for (std::ptrdiff_t k = 0; k < partial; ++k) sums[k] += at(b, i + k * lanes);
        V all = sums[0];
        for (std::ptrdiff_t k = 1; k < partial; ++k) all += sums[k];
        double sum = 0;
        for (std::ptrdiff_t k = 0; k < lanes; ++k) sum += reinterpret_cast<double const*>(&all)[k];
        return sum;
    }
    template <bool streaming>
    static double copy(double* __restrict a, double const* __restrict b, double const*, std::ptrdiff_t n) {
        each(n, [=](std::ptrdiff_t i) { put<streaming>(a, i, at(b, i)); });
        return 0;
    }
    template <bool streaming>
    static double scale(double* __restrict a, double const* __restrict b, double const*, std::ptrdiff_t n) {
        each(n, [=](std::ptrdiff_t i) { put<streaming>(a, i, factor * at(b, i)); });
        return 0;
    }
    template <bool streaming>
    static double add(double* __restrict a, double const* __restrict b, double const* __restrict c, std::ptrdiff_t n) {
        each(n, [=](std::ptrdiff_t i) { put<streaming>(a, i, at(b, i) + at(c, i)); });
        return 0;
    }
    template <bool streaming>
    static double triad(double* __restrict a, double const* __restrict b, double const* __restrict c,
                        std::ptrdiff_t n) {
        each(n, [=](std::ptrdiff_t i) { put<streaming>(a, i, at(b, i) + factor * at(c, i)); });
        return 0;
    }
};

// In the order of `kinds` in kernel.cpp: load, copy, scale, add, triad; first plain, then streaming.
struct Table {
    Loop plain[5], streaming[5];
};

template <int bits>
Table table() {
    using L = Loops<bits>;
    return {
        {L::load, L::template copy<false>, L::template scale<false>, L::template add<false>, L::template triad<false>},
        {L::load, L::template copy<true>, L::template scale<true>, L::template add<true>, L::template triad<true>}};
}

Table scalar_loops();
Table loops_128();
Table loops_256();
Table loops_512();

}  // namespace stream
