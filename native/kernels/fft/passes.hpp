// One of the two passes over a large transform, as plain data, and who carries it out with vectors of each width. A
// group of lines, as many as a vector has elements, is transformed at once, a line in each element of the vectors: no
// butterfly shuffles. No other header: what is compiled for one instruction set must not leak into the rest of the
// program.
#pragma once

#include <cstdint>

namespace octant::fft {

// Complex numbers are pairs of doubles; pitches, widths and counts are in complex numbers, tables in doubles.

struct Stage {  // of Stockham's transform: butterflies over `radix` numbers that lie parts * stride apart
    int radix;
    std::int64_t parts, stride;
    double const* twiddles;  // of each part: radix - 1 numbers
};

struct Line {  // a transform of short length; the twiddles have been made
    std::int64_t length;
    int stages;
    Stage const* stage;
};

struct Roots {  // exp(-2 pi i e / n) = fine[e & mask] * coarse[e >> shift], 0 <= e < n
    double const *fine, *coarse;
    std::int64_t mask;
    int shift;
};

struct Piece {  // the next `width` elements of each row: of row c they begin at in[c pitch]
    double const* in;
    std::int64_t pitch, width;
};

struct Pass {
    Line line;
    std::int64_t lines;
    double* scratch;  // scratch_doubles(length), aligned to 64 bytes
    // Element k of line c goes to out[k out_pitch + c], or to out_each[k][c] where there is such a table.
    double* out;
    std::int64_t out_pitch;
    double* const* out_each = nullptr;
    // Elements first_streamed <= k < last_streamed are stored past the caches where they are aligned to them.
    std::int64_t first_streamed = 0, last_streamed = 0;
    // Of columns: element k of line c is in[k in_pitch + c] or in_each[k][c]; its result may replace it. It is
    // multiplied by the root of exponent k (first + c). No roots: no multiplication.
    double const* in = nullptr;
    std::int64_t in_pitch = 0;
    double const* const* in_each = nullptr;
    Roots const* roots = nullptr;
    std::int64_t first = 0;
    // Of rows, which lie in pieces.
    Piece const* pieces = nullptr;
    std::int64_t piece_count = 0;
};

using Run = void (*)(Pass const& pass);

struct Passes {
    Run columns, rows;
    int lanes;          // lines of a group
    int largest_radix;  // that its registers hold
};

inline constexpr std::int64_t most_lanes = 8;

Passes passes_128();
Passes passes_256();  // only where the processor has AVX2
Passes passes_512();  // only where the processor has AVX-512

}  // namespace octant::fft
