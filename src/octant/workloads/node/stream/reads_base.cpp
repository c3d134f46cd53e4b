#include "reads.hpp"

// One double a load: what is measured is where the next one lies.
namespace stream {
namespace {

constexpr std::ptrdiff_t partial = 8;  // enough independent additions to hide their latency

template <bool asks>
double strided(double const* from, std::ptrdiff_t stride, std::ptrdiff_t loads, std::ptrdiff_t ahead) {
    double sums[partial] = {};
    for (std::ptrdiff_t i = 0; i < loads; i += partial, from += partial * stride)
#pragma GCC unroll 8
        for (std::ptrdiff_t k = 0; k < partial; ++k) {
            if (asks) __builtin_prefetch(from + (k + ahead) * stride, 0, 3);
            sums[k] += from[k * stride];
        }
    double sum = 0;
    for (double const one : sums) sum += one;
    return sum;
}

template <bool asks>
double gathered(double const* from, std::uint32_t const* index, std::ptrdiff_t loads, std::ptrdiff_t ahead) {
    double sums[partial] = {};
    for (std::ptrdiff_t i = 0; i < loads; i += partial)
#pragma GCC unroll 8
        for (std::ptrdiff_t k = 0; k < partial; ++k) {
            if (asks) __builtin_prefetch(from + index[i + k + ahead], 0, 3);
            sums[k] += from[index[i + k]];
        }
    double sum = 0;
    for (double const one : sums) sum += one;
    return sum;
}

// A tile after the other from left to right: of each row of the tile a part of a line, written as a part of a column.
template <bool asks>
void transposed(double* __restrict to, double const* __restrict from, Tiles tiles, std::ptrdiff_t ahead) {
    for (std::ptrdiff_t left = 0; left < tiles.columns; left += tiles.edge) {
        if constexpr (asks)
            for (std::ptrdiff_t row = 0; row < tiles.edge; ++row)
                __builtin_prefetch(from + row * tiles.pitch + left + ahead, 0, 3);
        for (std::ptrdiff_t column = left; column < left + tiles.edge; ++column)
            for (std::ptrdiff_t row = 0; row < tiles.edge; ++row)
                to[column * tiles.pitch + row] = from[row * tiles.pitch + column];
    }
}

}  // namespace

Strided strided_loads(bool asks) { return asks ? strided<true> : strided<false>; }
Gathered gathered_loads(bool asks) { return asks ? gathered<true> : gathered<false>; }
Transposed transposed_tiles(bool asks) { return asks ? transposed<true> : transposed<false>; }

}  // namespace stream
