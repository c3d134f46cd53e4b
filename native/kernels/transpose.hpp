// Transposition of tiles of doubles in vector registers, for each width of a vector. A workload instantiates a width in
// a file that is compiled for it (NAME_avx2.cpp, NAME_avx512.cpp, NAME_base.cpp) and chooses at run time. Templates
// alone: what is compiled for one instruction set must not leak into the rest of the program.
#pragma once

#include "octant/vector.hpp"

#include <cstddef>
#include <utility>

namespace octant {

template <int bits>
struct Transpose {
    using V = Vector<double, bits>;
    static constexpr std::ptrdiff_t lanes = bits / 64;
    static constexpr std::ptrdiff_t line = 8;  // doubles that a cache line holds
    using Places __attribute__((vector_size(bits / 8))) = long long;
    using Unaligned __attribute__((vector_size(bits / 8), aligned(8), may_alias)) = double;

    static V at(double const* from) {
        if constexpr (lanes == 1)
            return *from;
        else
            return *reinterpret_cast<Unaligned const*>(from);
    }
    static void put(double* to, V value) {
        if constexpr (lanes == 1)
            *to = value;
        else
            *reinterpret_cast<Unaligned*>(to) = value;
    }

    // Lane l of the upper or lower of two rows at a distance of `apart` rows, after they have exchanged the
    // off-diagonal squares of that size. The result is an index into the concatenation of both rows.
    static constexpr long long place(std::ptrdiff_t l, std::ptrdiff_t apart, bool lower) {
        bool const second = (l & apart) != 0;
        if (lower) return second ? lanes + l : l + apart;
        return second ? lanes + l - apart : l;
    }
    template <std::ptrdiff_t apart, bool lower, std::size_t... l>
    static V mixed(V a, V b, std::index_sequence<l...>) {
        return __builtin_shuffle(a, b, Places{place(static_cast<std::ptrdiff_t>(l), apart, lower)...});
    }
    template <std::ptrdiff_t apart>
    static void exchange(V (&rows)[lanes]) {
        constexpr std::make_index_sequence<static_cast<std::size_t>(lanes)> all;
#pragma GCC unroll 8
        for (std::ptrdiff_t i = 0; i < lanes; ++i) {
            if ((i & apart) != 0) continue;
            V const a = rows[i], b = rows[i + apart];
            rows[i] = mixed<apart, false>(a, b, all);
            rows[i + apart] = mixed<apart, true>(a, b, all);
        }
    }
    // Squares of one element, of two, of four: log2(lanes) exchanges transpose the whole.
    static void square(V (&rows)[lanes]) {
        if constexpr (lanes > 1) exchange<1>(rows);
        if constexpr (lanes > 2) exchange<2>(rows);
        if constexpr (lanes > 4) exchange<4>(rows);
    }

    // to[c + r * to_stride] = from[r + c * from_stride] for r < rows, c < columns: reads eight columns at a time
    // downwards, writes whole lines where `to` and `to_stride` are multiples of a line. The two do not overlap.
    static void tile(double* __restrict to, std::ptrdiff_t to_stride, double const* __restrict from,
                     std::ptrdiff_t from_stride, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        std::ptrdiff_t const whole = columns / line * line, high = rows / lanes * lanes;
        for (std::ptrdiff_t c = 0; c < whole; c += line) {
            for (std::ptrdiff_t r = 0; r < high; r += lanes) {
#pragma GCC unroll 8
                for (std::ptrdiff_t part = 0; part < line; part += lanes) {
                    V square_of[lanes];
#pragma GCC unroll 8
                    for (std::ptrdiff_t i = 0; i < lanes; ++i)
                        square_of[i] = at(from + r + (c + part + i) * from_stride);
                    square(square_of);
#pragma GCC unroll 8
                    for (std::ptrdiff_t i = 0; i < lanes; ++i) put(to + c + part + (r + i) * to_stride, square_of[i]);
                }
            }
            for (std::ptrdiff_t r = high; r < rows; ++r)
                for (std::ptrdiff_t i = c; i < c + line; ++i) to[i + r * to_stride] = from[r + i * from_stride];
        }
        for (std::ptrdiff_t c = whole; c < columns; ++c)
            for (std::ptrdiff_t r = 0; r < rows; ++r) to[c + r * to_stride] = from[r + c * from_stride];
    }

    // to[r + c * to_stride] += from[r + c * from_stride]
    static void add(double* __restrict to, std::ptrdiff_t to_stride, double const* __restrict from,
                    std::ptrdiff_t from_stride, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        for (std::ptrdiff_t c = 0; c < columns; ++c) {
            double* const into = to + c * to_stride;
            double const* const of = from + c * from_stride;
            std::ptrdiff_t r = 0;
            for (; r + line <= rows; r += line)
#pragma GCC unroll 8
                for (std::ptrdiff_t part = 0; part < line; part += lanes)
                    put(into + r + part, at(into + r + part) + at(of + r + part));
            for (; r < rows; ++r) into[r] += of[r];
        }
    }
};

}  // namespace octant
