// What is done with vectors of one width, as plain data, and who does it. Lines (of a matrix, or of a batch) are
// transformed in groups, as many at once as a vector has elements, a line in each element: no butterfly shuffles. One
// line alone is folded into as many. No other header: what is compiled for one instruction set must not leak into the
// rest of the program.
#pragma once

#include <cstdint>

namespace octant::fft {

// Complex numbers are pairs of real ones; pitches, widths and counts are in complex numbers, tables in real ones.

template <class Real>
struct StageOf {  // of Stockham's transform: butterflies over `radix` numbers that lie parts * stride apart
    int radix;
    std::int64_t parts, stride;
    Real const* twiddles;  // of each part: radix - 1 numbers
};

template <class Real>
struct LineOf {  // a transform of short length; the twiddles have been made
    std::int64_t length;
    int stages;
    StageOf<Real> const* stage;
};

template <class Real>
struct RootsOf {  // exp(-2 pi i e / n) = fine[e & mask] * coarse[e >> shift], 0 <= e < n
    Real const *fine, *coarse;
    std::int64_t mask;
    int shift;
};

template <class Real>
struct PieceOf {  // the next `width` elements of each row: of row c they begin at in[c pitch]
    Real const* in;
    std::int64_t pitch, width;
};

template <class Real>
struct PassOf {
    LineOf<Real> line;
    std::int64_t lines;
    Real* scratch;  // 4 lanes length numbers, aligned to 64 bytes
    // Element k of line c goes to out[k out_pitch + c], or to out_each[k][c] where there is such a table; of rows that
    // stay rows to out[c out_pitch + k].
    Real* out;
    std::int64_t out_pitch;
    Real* const* out_each = nullptr;
    // Elements first_streamed <= k < last_streamed are stored past the caches where they are aligned to them.
    std::int64_t first_streamed = 0, last_streamed = 0;
    // Of columns: element k of line c is in[k in_pitch + c] or in_each[k][c]; its result may replace it. It is
    // multiplied by the root of exponent k (first + c). No roots: no multiplication.
    Real const* in = nullptr;
    std::int64_t in_pitch = 0;
    Real const* const* in_each = nullptr;
    RootsOf<Real> const* roots = nullptr;
    std::int64_t first = 0;
    // Of rows, which lie in pieces.
    PieceOf<Real> const* pieces = nullptr;
    std::int64_t piece_count = 0;
};

// One transform of n = lanes * line.length numbers, which is at least lanes * lanes: its number lanes * j + l is
// element j of lane l; the lanes are transformed, multiplied by their roots, and then transformed across.
template <class Real>
struct FoldOf {
    LineOf<Real> line;
    Real const* turns;  // exp(-2 pi i k l / n) of element k: `lanes` real parts, then as many imaginary ones
};
// `scratch` and `other` have n numbers each, aligned to 64 bytes; `other` may be `out`, but not `in`.
template <class Real>
using FoldCall = void (*)(FoldOf<Real> const&, Real const* in, Real* out, Real* scratch, Real* other);

// The halves of a transform of 2 m real numbers that were transformed as m complex ones, in place: m + 1 numbers.
template <class Real>
struct SplitOf {
    Real* numbers;
    std::int64_t m;
    Real const* turns;  // -i/2 exp(-pi i k / m) for k = 0 … m / 2
};

// Transforms of a length that fits into registers, line by line. Of register k = 1, 2, … and its number l, `turns` has
// exp(-2 pi i k l / n): the real part twice, and behind those of all l the imaginary one negated and as it is. Plain
// arguments: a structure of them, stored and loaded again, took three times as long as the transform.
template <class Real>
using ShortCall = void (*)(Real const* turns, Real const* in, std::int64_t in_pitch, Real* out, std::int64_t out_pitch,
                           std::int64_t lines);

template <class Real>
struct PassesOf {
    void (*columns)(PassOf<Real> const&);
    void (*rows)(PassOf<Real> const&);
    void (*rows_as_rows)(PassOf<Real> const&);
    FoldCall<Real> fold;
    void (*split)(SplitOf<Real> const&);
    ShortCall<Real> (*in_registers)(std::int64_t n);  // null: not of this length
    int lanes;                                        // lines of a group
    int largest_radix;                                // that its registers hold
};

using Stage = StageOf<double>;
using Line = LineOf<double>;
using Roots = RootsOf<double>;
using Piece = PieceOf<double>;
using Pass = PassOf<double>;
using Passes = PassesOf<double>;

inline constexpr std::int64_t max_lanes = 8;  // of doubles

template <class Real>
PassesOf<Real> passes_scalar();
template <class Real>
PassesOf<Real> passes_128();
template <class Real>
PassesOf<Real> passes_256();  // only where the processor has AVX2
template <class Real>
PassesOf<Real> passes_512();  // only where the processor has AVX-512

}  // namespace octant::fft
