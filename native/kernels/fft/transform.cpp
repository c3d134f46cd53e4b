#include "kernels/fft/transform.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

namespace octant::fft {
namespace {

// exp(-2 pi i k l / n) for lanes l of each element k of a line that is folded.
template <class Real>
std::vector<Real> turns(std::int64_t n, std::int64_t lanes) {
    if (lanes == 1) return {};
    ExactRoots const roots(n);
    std::vector<Real> table(static_cast<std::size_t>(2 * n));
    for (std::int64_t k = 0; k < n / lanes; ++k)
        for (std::int64_t l = 0; l < lanes; ++l) {
            Exact const root = roots.of(k * l);
            auto const at = static_cast<std::size_t>(2 * lanes * k + l);
            table[at] = static_cast<Real>(root.real());
            table[at + static_cast<std::size_t>(lanes)] = static_cast<Real>(root.imag());
        }
    return table;
}

// In the order of ShortCall, with `pairs` numbers in a register.
template <class Real>
std::vector<Real> short_turns(std::int64_t n, std::int64_t pairs) {
    ExactRoots const roots(n);
    std::vector<Real> table;
    for (std::int64_t k = 1; k < n / pairs; ++k)
        for (bool const imaginary : {false, true})
            for (std::int64_t l = 0; l < pairs; ++l) {
                Exact const root = roots.of(k * l);
                auto const part = static_cast<Real>(imaginary ? root.imag() : root.real());
                table.insert(table.end(), {imaginary ? -part : part, part});
            }
    return table;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

template <class Call>
double seconds_of(Call const& call) {
    constexpr std::chrono::microseconds least{100};
    double best = std::numeric_limits<double>::infinity();
    std::int64_t times = 1;
    for (int round = 0; round < 4;) {
        auto const begin = Clock::now();
        for (std::int64_t i = 0; i < times; ++i) call();
        auto const taken = Clock::now() - begin;
        if (taken < least) {
            times *= 2;
            continue;
        }
        if (round++ > 0)
            best = std::min(best, std::chrono::duration<double>(taken).count() / static_cast<double>(times));
    }
    return best;
}

}  // namespace

template <class Real>
Aligned<Real>::Aligned(std::vector<Real> const& values)
    : blocks_((values.size() * sizeof(Real) + sizeof(Block) - 1) / sizeof(Block)) {
    if (!values.empty()) std::memcpy(blocks_.data(), values.data(), values.size() * sizeof(Real));
}

template <class Real>
bool LinesOf<Real>::folds(std::int64_t n, WidthOf<Real> const& width) {
    std::int64_t const lanes = width.passes.lanes;
    return n % lanes == 0 && n / lanes >= lanes;
}

template <class Real>
bool LinesOf<Real>::fits(std::int64_t n, WidthOf<Real> const& width) {
    return width.passes.in_registers(n) != nullptr;
}

template <class Real>
LinesOf<Real>::LinesOf(std::int64_t n, Way way, WidthOf<Real> width, bool streaming)
    : n_(n),
      way_(way),
      width_(std::move(width)),
      streaming_(streaming),
      stages_(way == Way::folded    ? n / width_.passes.lanes
              : way == Way::grouped ? n
                                    : 1,
              width_.passes.largest_radix),
      turns_(way == Way::in_registers ? short_turns<Real>(n, width_.passes.lanes / 2)
             : way == Way::folded     ? turns<Real>(n, width_.passes.lanes)
                                      : std::vector<Real>()),
      fold_{stages_.line(), turns_.data()},
      in_registers_(width_.passes.in_registers(n)),
      plan_(way == Way::two_passes ? std::make_unique<PlanOf<Real>>(n, width_) : nullptr) {}

template <class Real>
void LinesOf<Real>::run(Real const* in, std::int64_t in_pitch, Real* out, std::int64_t out_pitch, std::int64_t lines,
                        Real* scratch) const {
    if (way_ == Way::in_registers) return in_registers_(turns_.data(), in, in_pitch, out, out_pitch, lines);
    if (way_ == Way::grouped) {
        PieceOf<Real> const whole{in, in_pitch, n_};
        return width_.passes.rows_as_rows({.line = stages_.line(),
                                           .lines = lines,
                                           .scratch = scratch,
                                           .out = out,
                                           .out_pitch = out_pitch,
                                           .pieces = &whole,
                                           .piece_count = 1});
    }
    Real* const other = scratch + (2 * n_ + 15) / 16 * 16;
    for (std::int64_t c = 0; c < lines; ++c, in += 2 * in_pitch, out += 2 * out_pitch) {
        bool const aligned = reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
        if (way_ == Way::folded)
            width_.passes.fold(fold_, in, out, scratch, aligned ? out : other);
        else
            plan_->forward(in, scratch, out, streaming_, other);
    }
}

template <class Real>
std::size_t LinesOf<Real>::scratch_numbers() const {
    auto const numbers = static_cast<std::size_t>((2 * n_ + 15) / 16 * 16);
    if (way_ == Way::in_registers) return 0;
    if (way_ == Way::folded) return 2 * numbers;
    if (way_ == Way::grouped) return static_cast<std::size_t>(4 * width_.passes.lanes * n_);
    return numbers + plan_->scratch_numbers();
}

template <class Real>
std::int64_t LinesOf<Real>::flops() const {
    if (way_ == Way::two_passes) return plan_->flops();
    if (way_ == Way::in_registers) {
        std::int64_t const across = width_.passes.lanes / 2, down = n_ / across;
        return across * butterfly_flops(static_cast<int>(down)) + 6 * across * (across > 1 ? down - 1 : 0) +
               down * butterfly_flops(static_cast<int>(across));
    }
    if (way_ == Way::grouped || width_.passes.lanes == 1) return stages_.flops(n_);
    return stages_.flops(n_) + 6 * n_ + n_ / width_.passes.lanes * butterfly_flops(width_.passes.lanes);
}

template <class Real>
std::string LinesOf<Real>::name() const {
    std::string const lanes = std::to_string(width_.passes.lanes);
    if (way_ == Way::two_passes) return "two passes of " + lanes + (streaming_ ? " lines, streaming stores" : " lines");
    if (way_ == Way::in_registers)
        return "each line in registers of " + std::to_string(width_.passes.lanes / 2) + " numbers";
    if (width_.passes.lanes == 1) return "one lane";
    return way_ == Way::folded ? "each line folded into " + lanes + " lanes" : "groups of " + lanes + " lines";
}

template <class Real>
TransformOf<Real>::TransformOf(Shape const& shape, WidthOf<Real> const& widest)
    : shape_(shape), passes_(widest.passes) {
    auto const begin = Clock::now();
    make(widest);
    planning_s_ = seconds_since(begin);
}

template <class Real>
void TransformOf<Real>::make(WidthOf<Real> const& widest) {
    Shape const& shape = shape_;
    std::int64_t const lanes = passes_.lanes;
    if (shape.rows > 0) columns_ = std::make_unique<StagesOf<Real>>(shape.rows, passes_.largest_radix);
    if (shape.interleaved) {
        columns_ = std::make_unique<StagesOf<Real>>(shape.n, passes_.largest_radix);
        return;
    }
    std::int64_t const n = shape.real ? shape.n / 2 : shape.n;
    if (shape.real) {
        ExactRoots const roots(shape.n);
        for (std::int64_t k = 0; k <= n / 2; ++k) {
            append_root(halves_, roots, k);
            auto* const number = &halves_[halves_.size() - 2];
            std::swap(number[0], number[1]);
            number[0] /= 2, number[1] /= -2;
        }
    }
    WidthOf<Real> narrow = widest, fitting = widest;
    for (auto const& width : widths<Real>()) {
        if (width.passes.lanes > lanes) continue;
        if (LinesOf<Real>::folds(n, width)) narrow = width;
        if (LinesOf<Real>::fits(n, width)) fitting = width;
    }
    // What is right for most: a line in registers where it fits, folded as long as it is in the second cache, in groups
    // where it cannot be folded.
    bool const many = shape.lines() >= lanes && n <= longest_grouped, full = narrow.passes.lanes == lanes;
    bool const large = n * static_cast<std::int64_t>(sizeof(Real)) > longest_folded_bytes;
    auto const add = [this](std::int64_t length, Way way, WidthOf<Real> const& width, bool streaming = false) {
        ways_.emplace_back(length, way, width, streaming);
    };
    if (LinesOf<Real>::fits(n, fitting)) add(n, Way::in_registers, fitting);
    if (many && !full) add(n, Way::grouped, widest);
    if (large) add(n, Way::two_passes, widest);
    add(n, Way::folded, narrow);
    if (many && full && n <= lanes * lanes) add(n, Way::grouped, widest);
    if (!large && n >= min_passed) add(n, Way::two_passes, widest);
    if (n >= min_streamed) add(n, Way::two_passes, widest, true);
}

template <class Real>
void TransformOf<Real>::choose(Real const* in, Real* out, Real* scratch) {
    auto const begin = Clock::now();
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < ways_.size() && ways_.size() > 1; ++i) {
        double const taken = seconds_of([&] { run_lines(ways_[i], in, out, scratch); });
        if (taken < least) least = taken, best = i;
    }
    if (best > 0) std::swap(ways_[0], ways_[best]);
    planning_s_ += seconds_since(begin);
}

template <class Real>
void TransformOf<Real>::run_lines(LinesOf<Real> const& by, Real const* in, Real* out, Real* scratch) const {
    std::int64_t const lines = shape_.lines(), to = shape_.line_out();
    if (!shape_.real) return by.run(in, to, out, to, lines, scratch);
    std::int64_t const n = shape_.n / 2;
    for (std::int64_t c = 0; c < lines; c += passes_.lanes) {  // so that they are split while they are in the cache
        std::int64_t const here = std::min<std::int64_t>(passes_.lanes, lines - c);
        by.run(in + 2 * c * n, n, out + 2 * c * to, to, here, scratch);
        for (std::int64_t l = 0; l < here; ++l) passes_.split({out + 2 * (c + l) * to, n, halves_.data()});
    }
}

template <class Real>
void TransformOf<Real>::columns(Real const* in, Real* out, std::int64_t lines, Real* scratch) const {
    passes_.columns({.line = columns_->line(),
                     .lines = lines,
                     .scratch = scratch,
                     .out = out,
                     .out_pitch = lines,
                     .in = in,
                     .in_pitch = lines});
}

template <class Real>
void TransformOf<Real>::forward(Real const* in, Real* out, Real* scratch) const {
    if (shape_.interleaved) return columns(in, out, shape_.batch, scratch);
    run_lines(ways_[0], in, out, scratch);
    for (std::int64_t b = 0; b < shape_.batch && columns_; ++b) {
        Real* const one = out + b * 2 * shape_.rows * shape_.line_out();
        columns(one, one, shape_.line_out(), scratch);
    }
}

template <class Real>
std::size_t TransformOf<Real>::scratch_numbers() const {
    std::size_t most = 16;
    for (auto const& way : ways_) most = std::max(most, way.scratch_numbers());
    std::int64_t const length = shape_.interleaved ? shape_.n : shape_.rows;
    return std::max(most, static_cast<std::size_t>(4 * passes_.lanes * length));
}

template <class Real>
std::int64_t TransformOf<Real>::flops() const {
    std::int64_t const lines = shape_.lines();
    if (shape_.interleaved) return columns_->flops(shape_.n * shape_.batch);
    // For the numbers k and m - k: two sums, two halves, a product, two sums; two for the ends.
    constexpr std::int64_t pair = 16, ends = 2;
    std::int64_t const split = shape_.real ? pair * ((shape_.n / 2 - 1) / 2) + ends : 0;
    return lines * (ways_[0].flops() + split) + (columns_ ? columns_->flops(lines * shape_.line_out()) : 0);
}

template <class Real>
std::string TransformOf<Real>::way() const {
    return shape_.interleaved ? "groups of " + std::to_string(passes_.lanes) + " columns" : ways_[0].name();
}

template class TransformOf<double>;
template class TransformOf<float>;

}  // namespace octant::fft
