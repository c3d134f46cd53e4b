// The hot loops, once for every vector width. Lengths are multiples of 64 doubles unless stated otherwise. Targets of
// streaming stores are aligned to the vector, all other arrays to a double. No other header is included: code for one
// instruction set must not leak into the rest of the program.
#pragma once

#include "octant/vector.hpp"

#include <cstddef>
#include <utility>

namespace stream {

// a[i] = f(a[i], b[i], c[i]); the sum where nothing is written, else 0. `ahead`: for what is later by so many doubles
// the caches are asked; loops without prefetching ignore it.
using Loop = double (*)(double* a, double const* b, double const* c, std::ptrdiff_t n, std::ptrdiff_t ahead);
// Sums of `streams` arrays of n doubles, each `pitch` doubles after the one before, which are read side by side: at
// most eight, each of the streams that are eight apart.
using Streams = void (*)(double const* b, std::ptrdiff_t pitch, std::ptrdiff_t streams, std::ptrdiff_t n,
                         std::ptrdiff_t ahead, double* sums);
inline constexpr std::ptrdiff_t page = 512, line = 8;  // doubles
inline constexpr double factor = 3.0;
inline constexpr int in_registers = 8;  // streams with a base pointer each
inline constexpr int max_streams = 64;
// Value of kernel=write: all of its bytes are equal, so that memset can write it, too.
inline constexpr unsigned char written_byte = 0x40;
inline constexpr double filled = 0x1.0404040404040p+5;

enum class Form { plain, streaming, interleaved };  // interleaved: streaming stores alternate between four pages
inline constexpr int kernels = 7;                   // in the order of `kinds` in variants.cpp

struct Table {
    Loop loops[3][2][kernels];  // by form; without and with prefetching
    Streams few[2][in_registers],
        many[2][in_registers];  // without and with prefetching; by streams - 1, by streams % 8
};

template <int bits>
struct Loops {
    using V = octant::Vector<double, bits>;
    using Unaligned __attribute__((vector_size(bits / 8), aligned(8), may_alias)) = double;
    static constexpr std::ptrdiff_t lanes = bits / 64;

    static V at(double const* from, std::ptrdiff_t i) {
        if constexpr (bits == 64)
            return from[i];
        else
            return *reinterpret_cast<Unaligned const*>(from + i);
    }
    static void ask(double const* from, std::ptrdiff_t i) { __builtin_prefetch(from + i, 0, 3); }

    template <Form form>
    static void put(double* to, std::ptrdiff_t i, V value) {
        if constexpr (form != Form::plain)
            octant::store_streaming(reinterpret_cast<V*>(to + i), value);
        else if constexpr (bits == 64)
            to[i] = value;
        else
            *reinterpret_cast<Unaligned*>(to + i) = value;
    }

    // Calls body(i) for each vector, 16 of them an iteration: in the first cache four cost 6 % more time.
    template <class Body, class Ask>
    static void in_order(std::ptrdiff_t i, std::ptrdiff_t n, Body const& body, Ask const& next) {
        constexpr std::ptrdiff_t unrolled = 16;
        for (; i + unrolled * lanes <= n; i += unrolled * lanes) {
#pragma GCC unroll 16
            for (std::ptrdiff_t k = 0; k < unrolled * lanes; k += line) next(i + k);
#pragma GCC unroll 16
            for (std::ptrdiff_t k = 0; k < unrolled; ++k) body(i + k * lanes);
        }
        for (; i < n; i += lanes) body(i);
    }
    // Alternates between the lines of four pages: a core merges the stores of several pages better than those of one.
    template <class Body, class Ask>
    static void in_pages(std::ptrdiff_t n, Body const& body, Ask const& next) {
        constexpr std::ptrdiff_t pages = 4;
        std::ptrdiff_t block = 0;
        for (; block + pages * page <= n; block += pages * page)
            for (std::ptrdiff_t i = block; i < block + page; i += line)
#pragma GCC unroll 4
                for (std::ptrdiff_t p = 0; p < pages * page; p += page) {
                    next(i + p);
#pragma GCC unroll 8
                    for (std::ptrdiff_t k = 0; k < line; k += lanes) body(i + p + k);
                }
        in_order(block, n, body, next);
    }
    template <Form form, class Body, class Ask>
    static void each(std::ptrdiff_t n, Body const& body, Ask const& next) {
        if constexpr (form == Form::interleaved)
            in_pages(n, body, next);
        else
            in_order(0, n, body, next);
    }

    static double total(V all) {
        double sum = 0;
        for (std::ptrdiff_t k = 0; k < lanes; ++k) sum += reinterpret_cast<double const*>(&all)[k];
        return sum;
    }

    template <Form, bool asks>
    static double load(double*, double const* b, double const*, std::ptrdiff_t n, std::ptrdiff_t ahead) {
        constexpr std::ptrdiff_t partial =
            64 / lanes < 8 ? 64 / lanes : 8;  // enough independent additions to hide their latency
        V sums[partial] = {};
        for (std::ptrdiff_t i = 0; i < n; i += partial * lanes)
#pragma GCC unroll 8
            for (std::ptrdiff_t k = 0; k < partial; ++k) {
                if (asks && k * lanes % line == 0) ask(b, i + k * lanes + ahead);
                sums[k] += at(b, i + k * lanes);
            }
        V all = sums[0];
        for (std::ptrdiff_t k = 1; k < partial; ++k) all += sums[k];
        return total(all);
    }
    template <Form form, bool asks>
    static double copy(double* __restrict a, double const* __restrict b, double const*, std::ptrdiff_t n,
                       std::ptrdiff_t ahead) {
        each<form>(
            n, [=](std::ptrdiff_t i) { put<form>(a, i, at(b, i)); },
            [=](std::ptrdiff_t i) {
                if (asks) ask(b, i + ahead);
            });
        return 0;
    }
    template <Form form, bool asks>
    static double scale(double* __restrict a, double const* __restrict b, double const*, std::ptrdiff_t n,
                        std::ptrdiff_t ahead) {
        each<form>(
            n, [=](std::ptrdiff_t i) { put<form>(a, i, factor * at(b, i)); },
            [=](std::ptrdiff_t i) {
                if (asks) ask(b, i + ahead);
            });
        return 0;
    }
    template <Form form, bool asks>
    static double add(double* __restrict a, double const* __restrict b, double const* __restrict c, std::ptrdiff_t n,
                      std::ptrdiff_t ahead) {
        each<form>(
            n, [=](std::ptrdiff_t i) { put<form>(a, i, at(b, i) + at(c, i)); },
            [=](std::ptrdiff_t i) {
                if (asks) ask(b, i + ahead), ask(c, i + ahead);
            });
        return 0;
    }
    template <Form form, bool asks>
    static double triad(double* __restrict a, double const* __restrict b, double const* __restrict c, std::ptrdiff_t n,
                        std::ptrdiff_t ahead) {
        each<form>(
            n, [=](std::ptrdiff_t i) { put<form>(a, i, at(b, i) + factor * at(c, i)); },
            [=](std::ptrdiff_t i) {
                if (asks) ask(b, i + ahead), ask(c, i + ahead);
            });
        return 0;
    }
    template <Form form, bool>
    static double write(double* a, double const*, double const*, std::ptrdiff_t n, std::ptrdiff_t) {
        V const value = V{} + filled;
        each<form>(n, [=](std::ptrdiff_t i) { put<form>(a, i, value); }, [](std::ptrdiff_t) {});
        return 0;
    }
    template <Form form, bool asks>
    static double update(double* a, double const*, double const*, std::ptrdiff_t n, std::ptrdiff_t ahead) {
        each<form>(
            n, [=](std::ptrdiff_t i) { put<form>(a, i, factor * at(a, i)); },
            [=](std::ptrdiff_t i) {
                if (asks) ask(a, i + ahead);
            });
        return 0;
    }

    // Up to eight streams: a pointer and its partial sums for each, in registers. Of few streams several lines at once.
    template <int streams, bool asks>
    static void few(double const* b, std::ptrdiff_t pitch, std::ptrdiff_t, std::ptrdiff_t n, std::ptrdiff_t ahead,
                    double* sums) {
        constexpr std::ptrdiff_t at_once = streams == 1 ? 8 : streams == 2 ? 4 : streams <= 4 ? 2 : 1;
        double const* base[streams];
        for (int s = 0; s < streams; ++s) base[s] = b + s * pitch;
        V sum[streams][at_once] = {};
        for (std::ptrdiff_t i = 0; i < n; i += at_once * line)
#pragma GCC unroll 8
            for (int s = 0; s < streams; ++s)
#pragma GCC unroll 8
                for (std::ptrdiff_t l = 0; l < at_once; ++l) {
                    if (asks) ask(base[s], i + l * line + ahead);
#pragma GCC unroll 8
                    for (std::ptrdiff_t k = 0; k < line; k += lanes) sum[s][l] += at(base[s], i + l * line + k);
                }
        for (int s = 0; s < streams; ++s) {
            V all = sum[s][0];
            for (std::ptrdiff_t l = 1; l < at_once; ++l) all += sum[s][l];
            sums[s] = total(all);
        }
    }
    // More: one pointer that goes from stream to stream, eight at a time, and then to `rest` ones. Streams that are
    // eight apart share a sum, which stays in a register. Every instruction besides the loads lets the core look less
    // far ahead: with a sum for each stream in memory, 64 streams had a third of this rate.
    template <int rest, bool asks>
    static void many(double const* b, std::ptrdiff_t pitch, std::ptrdiff_t streams, std::ptrdiff_t n,
                     std::ptrdiff_t ahead, double* sums) {
        V sum[in_registers] = {};
        std::ptrdiff_t const whole = streams - rest;
        for (std::ptrdiff_t i = 0; i < n; i += line) {
            double const* from = b + i;
            for (std::ptrdiff_t s = 0; s < whole; s += in_registers, from += in_registers * pitch)
#pragma GCC unroll 8
                for (std::ptrdiff_t k = 0; k < in_registers; ++k) add_line<asks>(sum[k], from + k * pitch, ahead);
#pragma GCC unroll 8
            for (std::ptrdiff_t k = 0; k < rest; ++k) add_line<asks>(sum[k], from + k * pitch, ahead);
        }
        for (std::ptrdiff_t k = 0; k < in_registers; ++k) sums[k] = total(sum[k]);
    }
    template <bool asks>
    static void add_line(V& sum, double const* from, std::ptrdiff_t ahead) {
        if (asks) ask(from, ahead);
#pragma GCC unroll 8
        for (std::ptrdiff_t k = 0; k < line; k += lanes) sum += at(from, k);
    }
};

template <int bits, Form form, bool asks>
void fill(Loop (&loops)[kernels]) {
    using L = Loops<bits>;
    Loop const all[kernels] = {L::template load<form, asks>,  L::template copy<form, asks>,
                               L::template scale<form, asks>, L::template add<form, asks>,
                               L::template triad<form, asks>, L::template write<form, asks>,
                               L::template update<form, asks>};
    for (int i = 0; i < kernels; ++i) loops[i] = all[i];
}

template <int bits, int... i>
void fill_streams(Table& table, std::integer_sequence<int, i...>) {
    ((table.few[0][i] = Loops<bits>::template few<i + 1, false>), ...);
    ((table.few[1][i] = Loops<bits>::template few<i + 1, true>), ...);
    ((table.many[0][i] = Loops<bits>::template many<i, false>), ...);
    ((table.many[1][i] = Loops<bits>::template many<i, true>), ...);
}

template <int bits>
Table table() {
    Table table{};
    fill<bits, Form::plain, false>(table.loops[0][0]);
    fill<bits, Form::plain, true>(table.loops[0][1]);
    fill<bits, Form::streaming, false>(table.loops[1][0]);
    fill<bits, Form::streaming, true>(table.loops[1][1]);
    fill<bits, Form::interleaved, false>(table.loops[2][0]);
    fill<bits, Form::interleaved, true>(table.loops[2][1]);
    fill_streams<bits>(table, std::make_integer_sequence<int, in_registers>());
    return table;
}

Table scalar_loops();
Table loops_128();
Table loops_256();
Table loops_512();

}  // namespace stream
