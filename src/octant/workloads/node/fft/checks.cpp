#include "checks.hpp"

#include "kernels/random.hpp"
#include "kernels/worst.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace fft {
namespace {

using octant::keep_worst;

constexpr std::array<double, 3> amplitudes{1.0, 0.5, 0.25};  // by powers of two: no rounding

std::int64_t rows_of(Shape const& shape) { return std::max<std::int64_t>(shape.rows, 1); }

template <class Real>
double unit_of(Shape const& shape) {  // eps sqrt(log2 N)
    return std::numeric_limits<Real>::epsilon() * std::sqrt(std::log2(static_cast<double>(numbers_of(shape))));
}

std::int64_t smallest_factor(std::int64_t n) {
    for (std::int64_t factor = 2; factor * factor <= n; ++factor)
        if (n % factor == 0) return factor;
    return n;
}

Exact conjugate_of_root(octant::fft::ExactRoots const& roots, std::int64_t f, std::int64_t j, std::int64_t n) {
    return std::conj(roots.of(f * j % n));
}

}  // namespace

std::int64_t numbers_of(Shape const& shape) { return rows_of(shape) * shape.n; }

std::size_t place_in(Shape const& shape, std::int64_t b, std::int64_t row, std::int64_t j) {
    std::int64_t const within = row * shape.n + j;
    return static_cast<std::size_t>(shape.interleaved ? within * shape.batch + b : b * numbers_of(shape) + within);
}

std::size_t place_out(Shape const& shape, std::int64_t b, std::int64_t row, std::int64_t k) {
    std::int64_t const within = row * shape.line_out() + k;
    return static_cast<std::size_t>(shape.interleaved ? within * shape.batch + b
                                                      : b * rows_of(shape) * shape.line_out() + within);
}

template <class Real>
Number Sides<Real>::given(std::int64_t b, std::int64_t row, std::int64_t j) const {
    std::size_t const at = place_in(shape, b, row, j);
    return shape.real ? Number(in[at], 0) : Number(in[2 * at], in[2 * at + 1]);
}

template <class Real>
Number Sides<Real>::got(std::int64_t b, std::int64_t row, std::int64_t k) const {
    bool const mirrored = k >= shape.line_out();
    std::size_t const at = mirrored ? place_out(shape, b, (rows_of(shape) - row) % rows_of(shape), shape.n - k)
                                    : place_out(shape, b, row, k);
    return {out[2 * at], mirrored ? -out[2 * at + 1] : out[2 * at + 1]};
}

template <class Real>
double error_of_sums(Sides<Real> const& sides, std::uint64_t seed) {
    Shape const& shape = sides.shape;
    std::int64_t const size = numbers_of(shape), rows = rows_of(shape);
    auto const frequencies = octant::fft::frequencies(size, seed);
    std::vector<std::int64_t> columns;
    for (std::int64_t const f : frequencies) columns.push_back(f % shape.n);
    octant::fft::ExactRoots const roots(rows);
    std::vector<Number> line(static_cast<std::size_t>(shape.n));
    double worst = 0;
    std::int64_t const between =
        static_cast<std::int64_t>(octant::Random(seed).below(static_cast<std::uint64_t>(shape.batch)));
    for (std::int64_t const b : std::set<std::int64_t>{0, between, shape.batch - 1}) {
        std::vector<Exact> sums(frequencies.size());
        for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t j = 0; j < shape.n; ++j) line[static_cast<std::size_t>(j)] = sides.given(b, row, j);
            auto const of_line = octant::fft::direct_sums(line, 0, shape.n, columns);
            for (std::size_t i = 0; i < sums.size(); ++i)
                sums[i] += of_line[i] * roots.of(frequencies[i] / shape.n * row % rows);
        }
        for (std::size_t i = 0; i < sums.size(); ++i)
            keep_worst(worst, std::abs(Number(sums[i] - Exact(sides.got(b, frequencies[i] / shape.n, columns[i])))));
    }
    double const variance = shape.real ? 1.0 / 12 : 1.0 / 6;
    return worst / (unit_of<Real>(shape) * std::sqrt(static_cast<double>(size) * variance));
}

template <class Real>
double error_of_parseval(Sides<Real> const& sides) {
    Shape const& shape = sides.shape;
    double worst = 0;
    for (std::int64_t b = 0; b < shape.batch; ++b) {
        long double before = 0, after = 0;
        for (std::int64_t row = 0; row < rows_of(shape); ++row) {
            for (std::int64_t j = 0; j < shape.n; ++j) before += std::norm(sides.given(b, row, j));
            for (std::int64_t k = 0; k < shape.line_out(); ++k) {
                bool const twice = shape.real && k > 0 && 2 * k != shape.n;
                after += (twice ? 2 : 1) * std::norm(sides.got(b, row, k));
            }
        }
        long double const expected = before * static_cast<long double>(numbers_of(shape));
        keep_worst(worst, static_cast<double>(std::abs(after - expected) / expected));
    }
    return worst / unit_of<Real>(shape);
}

template <class Real>
double error_of_inverse(Sides<Real> const& sides) {
    Shape const& shape = sides.shape;
    std::int64_t const size = numbers_of(shape), rows = rows_of(shape);
    Shape const one{.n = shape.n, .rows = shape.rows};
    bool const smooth = octant::fft::is_smooth(shape.n) && octant::fft::is_smooth(rows);
    std::unique_ptr<octant::fft::TransformOf<double>> own;
    if (smooth) own = std::make_unique<octant::fft::TransformOf<double>>(one, octant::fft::widths<double>()[1]);
    octant::fft::Aligned<double> space(std::vector<double>(own ? own->scratch_numbers() : 0));
    octant::fft::Aligned<double> x(std::vector<double>(static_cast<std::size_t>(2 * size))), y = x;
    double worst = 0;
    for (std::int64_t b = 0; b < shape.batch; ++b) {
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t k = 0; k < shape.n; ++k) {
                Number const got = std::conj(sides.got(b, row, k));
                x.data()[2 * (row * shape.n + k)] = got.real(), x.data()[2 * (row * shape.n + k) + 1] = got.imag();
            }
        std::size_t const parts = static_cast<std::size_t>(2 * size);
        if (own)
            own->forward(x.data(), y.data(), space.data());
        else
            plain<double>(one, {x.data(), parts}, {y.data(), parts});
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t j = 0; j < shape.n; ++j) {
                double const* const back = y.data() + 2 * (row * shape.n + j);
                auto const scale = static_cast<double>(size);
                keep_worst(worst, std::abs(Number(back[0] / scale, -back[1] / scale) - sides.given(b, row, j)));
            }
    }
    return worst / (std::log(static_cast<double>(size)) * std::numeric_limits<Real>::epsilon() / 2);
}

Tones::Tones(Shape const& shape, std::uint64_t seed) : shape_(shape), rows_(rows_of(shape)), columns_(shape.n) {
    octant::Random random(seed);
    for (std::int64_t b = 0; b < shape.batch; ++b)
        for (auto& f : of_.emplace_back()) {
            f.row = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(rows_of(shape))));
            f.column = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape.n)));
        }
}

Number Tones::input(std::int64_t b, std::int64_t row, std::int64_t j) const {
    Exact sum = 0;
    for (std::size_t t = 0; t < amplitudes.size(); ++t) {
        auto const& f = of_[static_cast<std::size_t>(b)][t];
        sum += conjugate_of_root(rows_, f.row, row, rows_of(shape_)) *
               conjugate_of_root(columns_, f.column, j, shape_.n) * static_cast<long double>(amplitudes[t]);
    }
    return shape_.real ? Number(static_cast<double>(sum.real()), 0) : Number(sum);
}

double Tones::output(std::int64_t b, std::int64_t row, std::int64_t k) const {
    double sum = 0;
    std::int64_t const rows = rows_of(shape_);
    for (std::size_t t = 0; t < amplitudes.size(); ++t) {
        auto const& f = of_[static_cast<std::size_t>(b)][t];
        bool const here = f.row == row && f.column == k;
        bool const mirrored = (rows - f.row) % rows == row && (shape_.n - f.column) % shape_.n == k;
        double const seen = shape_.real ? ((here ? 0.5 : 0) + (mirrored ? 0.5 : 0)) : (here ? 1 : 0);
        sum += seen * amplitudes[t];
    }
    return sum * static_cast<double>(numbers_of(shape_));
}

template <class Real>
double Tones::error(Sides<Real> const& sides) const {
    double worst = 0;
    for (std::int64_t b = 0; b < shape_.batch; ++b)
        for (std::int64_t row = 0; row < rows_of(shape_); ++row)
            for (std::int64_t k = 0; k < shape_.line_out(); ++k)
                keep_worst(worst, std::abs(sides.got(b, row, k) - output(b, row, k)));
    return worst / (unit_of<Real>(shape_) * static_cast<double>(numbers_of(shape_)));
}

template <class Real>
void plain(Shape const& shape, std::span<Real const> in, std::span<Real> out) {
    Sides<Real> const sides{shape, in, out};
    std::int64_t const rows = rows_of(shape), length = shape.line_out();
    std::vector<Number> whole(static_cast<std::size_t>(rows * length)), line(static_cast<std::size_t>(shape.n)), column;
    auto const at = [&](std::int64_t row, std::int64_t k) -> Number& {
        return whole[static_cast<std::size_t>(row * length + k)];
    };
    for (std::int64_t b = 0; b < shape.batch; ++b) {
        for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t j = 0; j < shape.n; ++j) line[static_cast<std::size_t>(j)] = sides.given(b, row, j);
            std::ranges::copy_n(octant::fft::plain_transform(line).begin(), length, &at(row, 0));
        }
        for (std::int64_t k = 0; k < length && rows > 1; ++k) {
            column.clear();
            for (std::int64_t row = 0; row < rows; ++row) column.push_back(at(row, k));
            column = octant::fft::plain_transform(column);
            for (std::int64_t row = 0; row < rows; ++row) at(row, k) = column[static_cast<std::size_t>(row)];
        }
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t k = 0; k < length; ++k) {
                std::size_t const place = place_out(shape, b, row, k);
                out[2 * place] = static_cast<Real>(at(row, k).real());
                out[2 * place + 1] = static_cast<Real>(at(row, k).imag());
            }
    }
}

template <class Real>
void exchange_factors(Shape const& shape, std::span<Real> out) {
    std::int64_t const n = shape.line_out(), n1 = smallest_factor(n), n2 = n / n1;
    std::vector<Real> const right(out.begin(), out.end());
    for (std::int64_t b = 0; b < shape.batch; ++b)
        for (std::int64_t row = 0; row < rows_of(shape); ++row)
            for (std::int64_t k1 = 0; k1 < n1; ++k1)
                for (std::int64_t k2 = 0; k2 < n2; ++k2)
                    for (std::size_t part = 0; part < 2; ++part)
                        out[2 * place_out(shape, b, row, n2 > 1 ? k2 + n2 * k1 : n - 1 - k1) + part] =
                            right[2 * place_out(shape, b, row, k1 + n1 * k2) + part];
}

template <class Real>
void lose_last_line(Shape const& shape, std::span<Real> out) {
    for (std::int64_t k = 0; k < shape.line_out(); ++k)
        for (std::size_t part = 0; part < 2; ++part)
            out[2 * place_out(shape, shape.batch - 1, rows_of(shape) - 1, k) + part] = 0;
}

template <class Real>
void falsify_twiddle(Shape const& shape, std::span<Real> out) {
    std::size_t const low = 2 * place_out(shape, 0, 0, shape.line_out() / 4);
    std::size_t const high = 2 * place_out(shape, 0, 0, shape.line_out() / 4 + shape.line_out() / 2);
    for (std::size_t part = 0; part < 2; ++part) {
        Real const even = (out[low + part] + out[high + part]) / 2, odd = (out[low + part] - out[high + part]) / 2;
        out[low + part] = even - odd;  // as if turned by half a circle too much
        out[high + part] = even + odd;
    }
}

template <class Real>
void copy_only(Shape const& shape, std::span<Real const> in, std::span<Real> out) {
    Sides<Real> const sides{shape, in, out};
    for (std::int64_t b = 0; b < shape.batch; ++b)
        for (std::int64_t row = 0; row < rows_of(shape); ++row)
            for (std::int64_t k = 0; k < shape.line_out(); ++k) {
                Number const given = sides.given(b, row, k);
                std::size_t const place = 2 * place_out(shape, b, row, k);
                out[place] = static_cast<Real>(given.real()), out[place + 1] = static_cast<Real>(given.imag());
            }
}

template struct Sides<double>;
template struct Sides<float>;
template double error_of_sums(Sides<double> const& sides, std::uint64_t seed);
template double error_of_sums(Sides<float> const& sides, std::uint64_t seed);
template double error_of_parseval(Sides<double> const& sides);
template double error_of_parseval(Sides<float> const& sides);
template double error_of_inverse(Sides<double> const& sides);
template double error_of_inverse(Sides<float> const& sides);
template double Tones::error(Sides<double> const& sides) const;
template double Tones::error(Sides<float> const& sides) const;
template void plain(Shape const& shape, std::span<double const> in, std::span<double> out);
template void plain(Shape const& shape, std::span<float const> in, std::span<float> out);
template void exchange_factors(Shape const& shape, std::span<double> out);
template void exchange_factors(Shape const& shape, std::span<float> out);
template void lose_last_line(Shape const& shape, std::span<double> out);
template void lose_last_line(Shape const& shape, std::span<float> out);
template void falsify_twiddle(Shape const& shape, std::span<double> out);
template void falsify_twiddle(Shape const& shape, std::span<float> out);
template void copy_only(Shape const& shape, std::span<double const> in, std::span<double> out);
template void copy_only(Shape const& shape, std::span<float const> in, std::span<float> out);

}  // namespace fft
