// What a transform is compared with: the numbers that go in, sums straight from the definition, and tones.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace octant::fft {

using Number = std::complex<double>;
// Interleaved real and imaginary parts, as the passes expect them.
[[nodiscard]] inline double* doubles(Number* numbers) noexcept { return reinterpret_cast<double*>(numbers); }
using Exact = std::complex<long double>;

// Number j of the input: parts in (0, 1), from the index alone, as HPC Challenge's are.
[[nodiscard]] Number input(std::uint64_t j, std::uint64_t seed);
// The same about zero: the sum of all numbers is not so large that it hides errors of the others.
[[nodiscard]] Number centred_input(std::uint64_t j, std::uint64_t seed);

// exp(-2 pi i e / n) in long double: of two tables, rounded twice.
class ExactRoots {
  public:
    explicit ExactRoots(std::int64_t n);
    [[nodiscard]] Exact of(std::int64_t exponent) const;  // 0 <= exponent < n

  private:
    std::int64_t mask_;
    int shift_ = 0;
    std::vector<Exact> fine_, coarse_;
};

// The part of X_k = sum_j x_j exp(-2 pi i j k / n) that numbers first, first + 1, … contribute, for each frequency.
[[nodiscard]] std::vector<Exact> direct_sums(std::span<Number const> x, std::int64_t first, std::int64_t n,
                                             std::span<std::int64_t const> frequencies);

// Some frequencies: the first, the last and the middle one, and others that the seed draws.
[[nodiscard]] std::vector<std::int64_t> frequencies(std::int64_t n, std::uint64_t seed, std::size_t count = 12);

// Three tones: x_j is a sum of amplitudes times exp(+2 pi i f j / n), so X_k = n times the amplitude of tone k, else 0.
class Tones {
  public:
    Tones(std::int64_t n, std::uint64_t seed);
    [[nodiscard]] Number input(std::int64_t j) const;
    [[nodiscard]] Number output(std::int64_t k) const;

  private:
    std::int64_t n_;
    ExactRoots roots_;
    std::array<std::int64_t, 3> frequency_;
};

// The bounds. u is 2^-53, half the distance from 1 to the next number.
inline constexpr double unit = 0x1p-53;
[[nodiscard]] double hpcc_error(double largest, std::int64_t n);    // largest |x - x'| in ln n u; right below 16
[[nodiscard]] double direct_error(double largest, std::int64_t n);  // of X from centred input: in sqrt(log2 n) u rms(X)
[[nodiscard]] double tone_error(double largest, std::int64_t n);    // in sqrt(log2 n) u n
inline constexpr double hpcc_bound = 16, direct_bound = 8, tone_bound = 8;

// The oracle: radix 2, 3 and 5 from the definition, recursively; any length, in n times the sum of its prime factors.
[[nodiscard]] std::vector<Number> plain_transform(std::span<Number const> x);

}  // namespace octant::fft
