#include "kernels/fft/plan.hpp"

#include "octant/vector.hpp"

#include <algorithm>
#include <cmath>

namespace octant::fft {
namespace {

std::vector<int> radices(std::int64_t length, int largest) {
    int twos = 0;
    std::vector<int> found;
    for (; length % 2 == 0; length /= 2) ++twos;
    for (; length % 5 == 0; length /= 5) found.push_back(5);
    for (; length % 3 == 0; length /= 3) found.push_back(3);
    while (twos > 0) {
        int const bits = largest == 8 && twos >= 3 && twos != 4 ? 3 : std::min(twos, 2);
        found.push_back(1 << bits);
        twos -= bits;
    }
    std::ranges::sort(found, std::ranges::greater());
    if (found.empty()) found.push_back(1);
    return found;
}

// 2^a 3^b 5^c up to `most`, in order: all that can divide a length of these factors.
std::vector<std::int64_t> smooth_up_to(std::int64_t most) {
    std::vector<std::int64_t> found;
    for (std::int64_t fives = 1; fives <= most; fives *= 5)
        for (std::int64_t threes = fives; threes <= most; threes *= 3)
            for (std::int64_t twos = threes; twos <= most; twos *= 2) found.push_back(twos);
    std::ranges::sort(found);
    return found;
}

}  // namespace

bool is_smooth(std::int64_t n) {
    if (n < 1) return false;
    for (int const factor : {2, 3, 5})
        while (n % factor == 0) n /= factor;
    return n == 1;
}

std::int64_t smooth_at_most(std::int64_t n) {
    std::int64_t best = 1;
    for (std::int64_t fives = 1; fives <= n; fives *= 5) {
        for (std::int64_t threes = fives; threes <= n; threes *= 3) {
            std::int64_t twos = threes;
            while (twos <= n / 2) twos *= 2;
            best = std::max(best, twos);
            if (threes > n / 3) break;
        }
        if (fives > n / 5) break;
    }
    return best;
}

std::int64_t smooth_at_least(std::int64_t n) {
    while (!is_smooth(n)) ++n;
    return n;
}

template <class Real>
void append_root(std::vector<Real>& table, ExactRoots const& roots, std::int64_t exponent) {
    Exact const root = roots.of(exponent);
    table.insert(table.end(), {static_cast<Real>(root.real()), static_cast<Real>(root.imag())});
}
template void append_root(std::vector<double>& table, ExactRoots const& roots, std::int64_t exponent);
template void append_root(std::vector<float>& table, ExactRoots const& roots, std::int64_t exponent);

template <class Real>
std::vector<WidthOf<Real>> widths() {
    std::vector<WidthOf<Real>> found{{"scalar", passes_scalar<Real>()}, {"128", passes_128<Real>()}};
    if constexpr (x86) {
        if (has_avx2()) found.push_back({"256", passes_256<Real>()});
        if (has_avx512()) found.push_back({"512", passes_512<Real>()});
    }
    return found;
}
template std::vector<WidthOf<double>> widths();
template std::vector<WidthOf<float>> widths();

// The divisor of n next to its root; among those of about that size, one with which equal shares of both sides are
// whole lines, and leave no vector partly filled.
template <class Real>
std::int64_t PlanOf<Real>::rows_of(std::int64_t n, std::int64_t shares) {
    std::int64_t best = 0;
    double least = 0;
    for (std::int64_t const rows : smooth_up_to(n)) {
        if (n % rows != 0) continue;
        std::int64_t const columns = n / rows;
        double const away =
            std::abs(std::log2(static_cast<double>(rows) * static_cast<double>(rows) / static_cast<double>(n)));
        bool const equal = rows % shares == 0 && columns % shares == 0;
        bool const whole = equal && rows / shares % max_lanes == 0 && columns / shares % max_lanes == 0;
        double const cost = away + (equal ? 0 : 8) + (whole ? 0 : 4) + (rows > columns ? 0.01 : 0);
        if (best == 0 || cost < least) best = rows, least = cost;
    }
    return best;
}

template <class Real>
PlanOf<Real>::PlanOf(std::int64_t n, WidthOf<Real> const& width, std::int64_t shares)
    : passes_(width.passes),
      rows_(rows_of(n, shares)),
      columns_(n / rows_),
      column_stages_(rows_, passes_.largest_radix),
      row_stages_(columns_, passes_.largest_radix) {
    int shift = 0;
    while ((std::int64_t{1} << (2 * shift)) < n) ++shift;
    std::int64_t const near = std::int64_t{1} << shift;
    ExactRoots const roots(n);
    for (std::int64_t e = 0; e < near; ++e) append_root(fine_, roots, e % n);
    for (std::int64_t e = 0; e < n; e += near) append_root(coarse_, roots, e);
    roots_ = {fine_.data(), coarse_.data(), near - 1, shift};
}

std::int64_t butterfly_flops(int radix) {
    switch (radix) {
        case 2:
            return 4;
        case 3:
            return 16;
        case 4:
            return 16;
        case 5:
            return 52;
        case 8:
            return 60;
        case 16:
            return 176;
        default:
            return 0;
    }
}

template <class Real>
StagesOf<Real>::StagesOf(std::int64_t length, int largest_radix) : length_(length) {
    std::int64_t stride = 1, left = length;
    ExactRoots const roots(length);
    for (int const radix : radices(length, largest_radix)) {
        auto& table = twiddles_.emplace_back();
        for (std::int64_t part = 0; part < left / radix; ++part)
            for (int k = 1; k < radix; ++k) append_root(table, roots, part * k * stride);
        stages_.push_back({radix, left / radix, stride, table.data()});
        left /= radix;
        stride *= radix;
    }
}

template <class Real>
std::int64_t StagesOf<Real>::flops(std::int64_t numbers) const noexcept {
    constexpr std::int64_t turn = 6;  // a complex product
    std::int64_t sum = 0;
    for (auto const& stage : stages_) {
        std::int64_t const groups = numbers / stage.radix;
        sum += groups * (butterfly_flops(stage.radix) + (stage.parts > 1 ? turn * (stage.radix - 1) : 0));
    }
    return sum;
}

template <class Real>
std::int64_t PlanOf<Real>::flops() const noexcept {
    constexpr std::int64_t composed_turn = 12;  // two complex products
    return composed_turn * n() + column_stages_.flops(n()) + row_stages_.flops(n());
}

template <class Real>
std::size_t PlanOf<Real>::scratch_numbers() const noexcept {
    return static_cast<std::size_t>(4 * passes_.lanes * std::max(rows_, columns_));
}

template <class Real>
void PlanOf<Real>::transform_columns(Ends ends, std::int64_t first, std::int64_t lines, bool streaming,
                                     Real* scratch) const {
    passes_.columns({.line = column_stages_.line(),
                     .lines = lines,
                     .scratch = scratch,
                     .out = ends.out,
                     .out_pitch = ends.out_pitch,
                     .last_streamed = streaming ? rows_ : 0,
                     .in = ends.in,
                     .in_pitch = ends.in_pitch,
                     .roots = &roots_,
                     .first = first});
}

template <class Real>
void PlanOf<Real>::transform_plain_columns(Ends ends, std::int64_t lines, bool streaming, Real* scratch) const {
    passes_.columns({.line = column_stages_.line(),
                     .lines = lines,
                     .scratch = scratch,
                     .out = ends.out,
                     .out_pitch = ends.out_pitch,
                     .last_streamed = streaming ? rows_ : 0,
                     .in = ends.in,
                     .in_pitch = ends.in_pitch});
}

template <class Real>
void PlanOf<Real>::transform_rows(Ends ends, std::int64_t lines, bool streaming, Real* scratch) const {
    PieceOf<Real> const whole{ends.in, ends.in_pitch, columns_};
    passes_.rows({.line = row_stages_.line(),
                  .lines = lines,
                  .scratch = scratch,
                  .out = ends.out,
                  .out_pitch = ends.out_pitch,
                  .last_streamed = streaming ? columns_ : 0,
                  .pieces = &whole,
                  .piece_count = 1});
}

template <class Real>
void PlanOf<Real>::transform_columns(Real const* const* in, Places const& places, std::int64_t first,
                                     std::int64_t lines, Real* scratch) const {
    passes_.columns({.line = column_stages_.line(),
                     .lines = lines,
                     .scratch = scratch,
                     .out = nullptr,
                     .out_pitch = 0,
                     .out_each = places.out,
                     .first_streamed = places.first_streamed,
                     .last_streamed = places.last_streamed,
                     .in_each = in,
                     .roots = &roots_,
                     .first = first});
}

template <class Real>
void PlanOf<Real>::transform_rows(std::span<PieceOf<Real> const> in, Places const& places, std::int64_t lines,
                                  Real* scratch) const {
    passes_.rows({.line = row_stages_.line(),
                  .lines = lines,
                  .scratch = scratch,
                  .out = nullptr,
                  .out_pitch = 0,
                  .out_each = places.out,
                  .first_streamed = places.first_streamed,
                  .last_streamed = places.last_streamed,
                  .pieces = in.data(),
                  .piece_count = static_cast<std::int64_t>(in.size())});
}

template <class Real>
void PlanOf<Real>::forward(Real const* in, Real* work, Real* out, bool streaming, Real* scratch) const {
    transform_columns({in, columns_, work, columns_}, 0, columns_, streaming, scratch);
    transform_rows({work, columns_, out, rows_}, rows_, streaming, scratch);
}

template class StagesOf<double>;
template class StagesOf<float>;
template class PlanOf<double>;
template class PlanOf<float>;

}  // namespace octant::fft
