// Each error that a transform may have is seen by the check that is there for it, and a right one by none.
#include "checks.hpp"

#include "kernels/random.hpp"

#include "check.hpp"

#include <functional>

namespace {

using fft::Shape;
using fft::Sides;

struct Errors {
    double sums, tones, parseval, inverse;
    [[nodiscard]] bool right() const {
        return sums <= fft::sum_bound && tones <= fft::tone_bound && parseval <= fft::parseval_bound &&
               inverse <= fft::inverse_bound;
    }
};

template <class Real>
using Spoil = std::function<void(Shape const& shape, std::span<Real const> in, std::span<Real> out)>;

template <class Real>
Errors errors(Shape const& shape, Spoil<Real> const& spoil) {
    std::vector<Real> x(static_cast<std::size_t>(shape.parts_in())), y(static_cast<std::size_t>(shape.parts_out()));
    Sides<Real> const sides{shape, x, y};
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<Real>(octant::random_at(i, 1) / 2);
    fft::plain<Real>(shape, x, y);
    spoil(shape, x, y);
    Errors found{fft::error_of_sums(sides, 1), 0, fft::error_of_parseval(sides), fft::error_of_inverse(sides)};
    fft::Tones const tones(shape, 1);
    for (std::int64_t b = 0; b < shape.batch; ++b)
        for (std::int64_t row = 0; row < std::max<std::int64_t>(shape.rows, 1); ++row)
            for (std::int64_t j = 0; j < shape.n; ++j) {
                std::size_t const at = fft::place_in(shape, b, row, j);
                auto const number = tones.input(b, row, j);
                x[shape.real ? at : 2 * at] = static_cast<Real>(number.real());
                if (!shape.real) x[2 * at + 1] = static_cast<Real>(number.imag());
            }
    fft::plain<Real>(shape, x, y);
    spoil(shape, x, y);
    found.tones = tones.error(sides);
    return found;
}

template <class Real>
void reverse_bits(Shape const& shape, std::span<Real const>, std::span<Real> out) {
    std::vector<Real> const right(out.begin(), out.end());
    auto const n = static_cast<std::size_t>(shape.n);
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t reversed = 0;
        for (std::size_t bit = 1; bit < n; bit *= 2) reversed = 2 * reversed + ((k & bit) != 0 ? 1 : 0);
        out[2 * k] = right[2 * reversed], out[2 * k + 1] = right[2 * reversed + 1];
    }
}

template <class Real>
void conjugate(Shape const& shape, std::span<Real const>, std::span<Real> out) {  // exp(+2 pi i j k / n)
    std::vector<Real> const right(out.begin(), out.end());
    auto const n = static_cast<std::size_t>(shape.n);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t part = 0; part < 2; ++part) out[2 * k + part] = right[2 * ((n - k) % n) + part];
}

template <class Real>
void wrong_transforms(octant::Checks& checks) {
    auto const copies = [](Shape const& s, std::span<Real const> in, std::span<Real> out) {
        fft::copy_only(s, in, out);
    };
    auto const factors = [](Shape const& s, std::span<Real const>, std::span<Real> out) {
        fft::exchange_factors(s, out);
    };
    auto const loses = [](Shape const& s, std::span<Real const>, std::span<Real> out) { fft::lose_last_line(s, out); };
    auto const twiddle = [](Shape const& s, std::span<Real const>, std::span<Real> out) {
        fft::falsify_twiddle(s, out);
    };
    for (Shape const shape : {Shape{.n = 64}, Shape{.n = 60}}) {
        for (Spoil<Real> const& spoil : {Spoil<Real>(copies), Spoil<Real>(conjugate<Real>), Spoil<Real>(factors)}) {
            Errors const found = errors<Real>(shape, spoil);
            checks.that(found.sums > fft::sum_bound, "sums see it");
            checks.that(found.tones > fft::tone_bound, "tones see it");
            checks.that(found.inverse > fft::inverse_bound, "the inverse sees it");
        }
        checks.that(errors<Real>(shape, twiddle).inverse > fft::inverse_bound, "the inverse sees one wrong twiddle");
    }
    Errors const reversed = errors<Real>({.n = 64}, reverse_bits<Real>);
    checks.that(reversed.sums > fft::sum_bound && reversed.tones > fft::tone_bound, "another order is seen");
    checks.that(reversed.parseval <= fft::parseval_bound, "which Parseval's equation cannot");
    Errors const exchanged = errors<Real>({.n = 15}, factors);
    checks.that(exchanged.sums > fft::sum_bound && exchanged.tones > fft::tone_bound, "so are exchanged factors of 15");
    for (Shape const shape : {Shape{.n = 64, .batch = 5}, Shape{.n = 30, .rows = 4, .real = true},
                              Shape{.n = 12, .batch = 3, .interleaved = true}})
        checks.that(errors<Real>(shape, loses).parseval > fft::parseval_bound,
                    "Parseval's equation misses a lost line");
}

template <class Real>
void right_transforms(octant::Checks& checks) {
    auto const nothing = [](Shape const&, std::span<Real const>, std::span<Real>) {};
    for (bool const real : {false, true})
        for (bool const interleaved : {false, true})
            for (std::int64_t const n : {2, 7, 32, 45})
                for (std::int64_t const rows : {0, 3})
                    checks.that(errors<Real>({n, rows, 2, real, interleaved}, nothing).right(), "the oracle is right");
}

// Ours against the oracle, number by number.
template <class Real>
void ways(octant::Checks& checks) {
    for (auto const& width : octant::fft::widths<Real>())
        for (Shape const shape :
             {Shape{.n = 240}, Shape{.n = 1024, .batch = 2}, Shape{.n = 18, .rows = 20},
              Shape{.n = 270, .rows = 3, .batch = 2, .real = true}, Shape{.n = 10125}, Shape{.n = 27, .batch = 21},
              Shape{.n = 40, .batch = 11, .interleaved = true}, Shape{.n = 4}, Shape{.n = 8}, Shape{.n = 16},
              Shape{.n = 32, .batch = 3}, Shape{.n = 64}, Shape{.n = 128}, Shape{.n = 16, .rows = 5},
              Shape{.n = 32, .batch = 2, .real = true}}) {
            octant::fft::TransformOf<Real> const transform(shape, width);
            std::vector<Real> in, expected(static_cast<std::size_t>(shape.parts_out()));
            for (std::int64_t i = 0; i < shape.parts_in(); ++i)
                in.push_back(static_cast<Real>(octant::random_at(static_cast<std::uint64_t>(i), 2)));
            octant::fft::Aligned<Real> space(std::vector<Real>(transform.scratch_numbers())), out(expected), x(in);
            transform.forward(x.data(), out.data(), space.data());
            fft::plain<Real>(shape, in, expected);
            double worst = 0;
            for (std::size_t i = 0; i < expected.size(); ++i)
                worst = std::max(worst, std::abs(double{out.data()[i]} - double{expected[i]}));
            auto const size = static_cast<double>(fft::numbers_of(shape));
            checks.that(worst <= 20 * std::numeric_limits<Real>::epsilon() * std::sqrt(size), "as the oracle has it");
        }
}

// Short lines stay in registers, and what that computes is counted: by hand for lines of 16 as 16 x 1 and as 8 x 2.
void short_lines(octant::Checks& checks) {
    auto const widths = octant::fft::widths<double>();
    octant::fft::TransformOf<double> const by_one({.n = 16}, widths[1]);
    checks.that(by_one.way() == "each line in registers of 1 numbers", "one number in a vector");
    checks.that(by_one.flops() == 176, "a transform of 16 alone");
    if (widths.size() < 3) return;
    octant::fft::TransformOf<double> const by_two({.n = 16}, widths[2]);
    checks.that(by_two.way() == "each line in registers of 2 numbers", "two numbers in a vector");
    checks.that(by_two.flops() == 2 * 60 + 7 * 2 * 6 + 8 * 4, "two of 8, 14 products, eight of 2");
}

}  // namespace

int main() {
    octant::Checks checks;
    right_transforms<double>(checks);
    right_transforms<float>(checks);
    wrong_transforms<double>(checks);
    wrong_transforms<float>(checks);
    ways<double>(checks);
    ways<float>(checks);
    short_lines(checks);
    return checks.result();
}
