// What the results of any transform are held against: sums from the definition, tones, Parseval's equation and the
// inverse. They are independent of the algorithm of the transform.
#pragma once

#include "kernels/fft/reference.hpp"
#include "kernels/fft/transform.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fft {

using octant::fft::Exact;
using octant::fft::Number;
using octant::fft::Shape;

// Index of number (row, k) of transform b in the input, or in the output.
[[nodiscard]] std::size_t place_in(Shape const& shape, std::int64_t b, std::int64_t row, std::int64_t j);
[[nodiscard]] std::size_t place_out(Shape const& shape, std::int64_t b, std::int64_t row, std::int64_t k);

[[nodiscard]] std::int64_t numbers_of(Shape const& shape);  // of one transform

template <class Real>
struct Sides {  // of all transforms; real parts and imaginary ones, or real numbers alone
    Shape shape;
    std::span<Real const> in;
    std::span<Real const> out;

    [[nodiscard]] Number given(std::int64_t b, std::int64_t row, std::int64_t j) const;
    // Also of the numbers that a real transform leaves out, as they are conjugates of others.
    [[nodiscard]] Number got(std::int64_t b, std::int64_t row, std::int64_t k) const;
};

// All in units of their bounds' rounding errors, of the precision of Real; at most 8 where the transform is right,
// the inverse 16.
inline constexpr double sum_bound = 8, tone_bound = 8, parseval_bound = 8, inverse_bound = 16;

// The largest difference from sums of the definition in long double, of the first and last transforms and one between,
// at twelve frequencies: in eps sqrt(log2 N) rms(X). The numbers that went in have mean zero and variance 1/12 a part.
template <class Real>
[[nodiscard]] double error_of_sums(Sides<Real> const& sides, std::uint64_t seed);

// The largest relative difference of the energy of a transform from N times that of what went in: in eps sqrt(log2 N).
template <class Real>
[[nodiscard]] double error_of_parseval(Sides<Real> const& sides);

// The largest difference of the inverse, by code of our own in double precision, from what went in: in ln N u.
template <class Real>
[[nodiscard]] double error_of_inverse(Sides<Real> const& sides);

// Three tones, other ones for each transform: number j is a sum of amplitudes times exp(+2 pi i (f0 j0 / rows +
// f1 j1 / n)), or its real part.
class Tones {
  public:
    Tones(Shape const& shape, std::uint64_t seed);
    [[nodiscard]] Number input(std::int64_t b, std::int64_t row, std::int64_t j) const;
    [[nodiscard]] double output(std::int64_t b, std::int64_t row, std::int64_t k) const;
    // In eps sqrt(log2 N) N.
    template <class Real>
    [[nodiscard]] double error(Sides<Real> const& sides) const;

  private:
    struct Frequency {
        std::int64_t row, column;
    };
    Shape shape_;
    octant::fft::ExactRoots rows_, columns_;
    std::vector<std::array<Frequency, 3>> of_;
};

// The oracle: line by line from the definition.
template <class Real>
void plain(Shape const& shape, std::span<Real const> in, std::span<Real> out);

// Faults that a check must detect.
template <class Real>
void exchange_factors(Shape const& shape,
                      std::span<Real> out);  // k1 + n1 k2 of each line at k2 + n2 k1, primes reversed
template <class Real>
void lose_last_line(Shape const& shape, std::span<Real> out);  // of the last transform
template <class Real>
void falsify_twiddle(Shape const& shape, std::span<Real> out);  // one twiddle of the last radix-2 stage, n even
template <class Real>
void copy_only(Shape const& shape, std::span<Real const> in, std::span<Real> out);

}  // namespace fft
