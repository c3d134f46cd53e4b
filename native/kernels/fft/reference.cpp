#include "kernels/fft/reference.hpp"

#include "kernels/random.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace octant::fft {
namespace {

Exact exact_root(std::int64_t exponent, std::int64_t n) {
    long double const angle =
        2 * std::numbers::pi_v<long double> * (static_cast<long double>(exponent) / static_cast<long double>(n));
    return {std::cos(angle), -std::sin(angle)};
}

__extension__ using Wide = unsigned __int128;
std::int64_t product(std::int64_t a, std::int64_t b, std::int64_t n) {
    return static_cast<std::int64_t>(static_cast<Wide>(a) * static_cast<Wide>(b) % static_cast<Wide>(n));
}

// std::complex's own product looks for infinities, at several times the cost.
Exact times(Exact a, Exact b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

constexpr std::array<double, 3> amplitudes{1.0, 0.5, 0.25};  // by powers of two: no rounding

std::int64_t smallest_factor(std::int64_t n) {
    for (std::int64_t factor = 2; factor * factor <= n; ++factor)
        if (n % factor == 0) return factor;
    return n;
}

void plain(std::span<Number const> x, std::size_t stride, std::span<Number> out) {
    auto const n = static_cast<std::int64_t>(out.size());
    if (n == 1) {
        out[0] = x[0];
        return;
    }
    auto const parts = static_cast<std::size_t>(smallest_factor(n));
    std::size_t const length = out.size() / parts;
    std::vector<Number> inner(out.size());
    for (std::size_t part = 0; part < parts; ++part)
        plain(x.subspan(part * stride), stride * parts, std::span(inner).subspan(part * length, length));
    for (std::size_t k = 0; k < out.size(); ++k) {
        Exact sum = 0;
        for (std::size_t part = 0; part < parts; ++part)
            sum += times(Exact(inner[part * length + k % length]),
                         exact_root(product(static_cast<std::int64_t>(part), static_cast<std::int64_t>(k), n), n));
        out[k] = Number(sum);
    }
}

}  // namespace

Number input(std::uint64_t j, std::uint64_t seed) {
    constexpr double half = 0.5, away_from_zero = 0x1p-54;
    auto const part = [&](std::uint64_t i) { return half + half * random_at(i, seed) + away_from_zero; };
    return {part(2 * j), part(2 * j + 1)};
}

Number centred_input(std::uint64_t j, std::uint64_t seed) { return input(j, seed) - Number(0.5, 0.5); }

ExactRoots::ExactRoots(std::int64_t n) : mask_(0) {
    while ((std::int64_t{1} << (2 * shift_)) < n) ++shift_;
    std::int64_t const near = std::int64_t{1} << shift_;
    mask_ = near - 1;
    for (std::int64_t e = 0; e < near; ++e) fine_.push_back(exact_root(e % n, n));
    for (std::int64_t e = 0; e < n; e += near) coarse_.push_back(exact_root(e, n));
}

Exact ExactRoots::of(std::int64_t exponent) const {
    return times(fine_[static_cast<std::size_t>(exponent & mask_)],
                 coarse_[static_cast<std::size_t>(exponent >> shift_)]);
}

std::vector<Exact> direct_sums(std::span<Number const> x, std::int64_t first, std::int64_t n,
                               std::span<std::int64_t const> frequencies) {
    ExactRoots const roots(n);
    constexpr std::size_t block = 1024;  // sums of sums: errors grow with the length of a block, not with n
    std::vector<Exact> sums;
    for (std::int64_t const k : frequencies) {
        std::int64_t exponent = product(first, k, n);
        Exact sum = 0;
        for (std::size_t begin = 0; begin < x.size(); begin += block) {
            Exact part = 0;
            for (std::size_t j = begin; j < std::min(x.size(), begin + block); ++j) {
                part += times(Exact(x[j]), roots.of(exponent));
                exponent += exponent < n - k ? k : k - n;
            }
            sum += part;
        }
        sums.push_back(sum);
    }
    return sums;
}

std::vector<std::int64_t> frequencies(std::int64_t n, std::uint64_t seed, std::size_t count) {
    std::vector<std::int64_t> found{0, n - 1, n / 2};
    Random random(seed);
    while (found.size() < count)
        found.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n))));
    return found;
}

Tones::Tones(std::int64_t n, std::uint64_t seed) : n_(n), roots_(n), frequency_{} {
    Random random(seed);
    for (auto& f : frequency_) f = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
}

Number Tones::input(std::int64_t j) const {
    Exact sum = 0;
    for (std::size_t t = 0; t < frequency_.size(); ++t)
        sum += std::conj(roots_.of(product(frequency_[t], j, n_))) * static_cast<long double>(amplitudes[t]);
    return Number(sum);
}

Number Tones::output(std::int64_t k) const {
    double sum = 0;
    for (std::size_t t = 0; t < frequency_.size(); ++t) sum += frequency_[t] == k ? amplitudes[t] : 0;
    return {sum * static_cast<double>(n_), 0};
}

double hpcc_error(double largest, std::int64_t n) { return largest / (std::log(static_cast<double>(n)) * unit); }

double direct_error(double largest, std::int64_t n) {
    auto const size = static_cast<double>(n);
    return largest / (std::sqrt(std::log2(size)) * unit * std::sqrt(size / 6));  // numbers in (-1/2, 1/2): 1/12 a part
}

double tone_error(double largest, std::int64_t n) {
    auto const size = static_cast<double>(n);
    return largest / (std::sqrt(std::log2(size)) * unit * size);
}

std::vector<Number> plain_transform(std::span<Number const> x) {
    std::vector<Number> out(x.size());
    plain(x, 1, out);
    return out;
}

}  // namespace octant::fft
