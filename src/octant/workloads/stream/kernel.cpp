// Sustained memory bandwidth: McCalpin's four loops over arrays of doubles.
#include "octant/kernel.hpp"

#include <cmath>

namespace {

using octant::Buffer;
using octant::Context;

using Loop = void (*)(double* __restrict, double const* __restrict, double const* __restrict, std::ptrdiff_t);
constexpr double scalar = 3.0;

void copy(double* __restrict a, double const* __restrict b, double const* __restrict, std::ptrdiff_t n) {
#pragma omp simd
    for (std::ptrdiff_t i = 0; i < n; ++i) a[i] = b[i];
}
void scale(double* __restrict a, double const* __restrict b, double const* __restrict, std::ptrdiff_t n) {
#pragma omp simd
    for (std::ptrdiff_t i = 0; i < n; ++i) a[i] = scalar * b[i];
}
void add(double* __restrict a, double const* __restrict b, double const* __restrict c, std::ptrdiff_t n) {
#pragma omp simd
    for (std::ptrdiff_t i = 0; i < n; ++i) a[i] = b[i] + c[i];
}
void triad(double* __restrict a, double const* __restrict b, double const* __restrict c, std::ptrdiff_t n) {
#pragma omp simd
    for (std::ptrdiff_t i = 0; i < n; ++i) a[i] = b[i] + scalar * c[i];
}

struct Variant {
    char const* kernel;
    Loop loop;
    int arrays_read;
    int flops;
};
constexpr Variant variants[] = {{"copy", copy, 1, 0}, {"scale", scale, 1, 1}, {"add", add, 2, 1}, {"triad", triad, 2, 2}};

Variant const& pick(std::string const& kernel) {
    for (auto const& variant : variants)
        if (kernel == variant.kernel) return variant;
    throw octant::Refusal("no loop '" + kernel + "' in stream; try copy, scale, add or triad");
}

class Stream {
  public:
    static octant::KernelInfo info() {
        using octant::KnobKind;
        return {.name = "stream",
                .knobs = {{"kernel", KnobKind::word, "triad", "which loop", {"copy", "scale", "add", "triad"}},
                          {"bytes", KnobKind::bytes, "256MiB", "footprint of all arrays and threads of a rank", {}, 3072}},
                .sync = octant::Sync::clock};
    }

    explicit Stream(Context& context)
        : variant_(pick(context.knobs.word("kernel"))), arrays_(1 + variant_.arrays_read),
          slice_(std::max<std::ptrdiff_t>(8, context.knobs.integer("bytes") / (8 * arrays_ * context.threads) / 8 * 8)),
          piece_(std::min<std::ptrdiff_t>(slice_, 65536)), pieces_(slice_ / piece_),
          a_(context.buffer<double>(static_cast<std::size_t>(slice_ * context.threads))),
          b_(context.buffer<double>(a_.size())), c_(context.buffer<double>(variant_.arrays_read == 2 ? a_.size() : 0)) {
        context.on_each_thread([&](int lane) {
            for (std::ptrdiff_t i = lane * slice_; i < (lane + 1) * slice_; ++i) {
                a_[static_cast<std::size_t>(i)] = 0;
                b_[static_cast<std::size_t>(i)] = b_at(i);
                if (variant_.arrays_read == 2) c_[static_cast<std::size_t>(i)] = c_at(i);
            }
        });
        context.watched = {&a_.mapping(), &b_.mapping()};
        context.notes = {{"loop", variant_.kernel}};
    }

    void chunk(int lane, std::int64_t index) {
        std::ptrdiff_t const at = lane * slice_ + (index % pieces_) * piece_;
        variant_.loop(a_.data() + at, b_.data() + at, c_.data() + at, piece_);
    }

    [[nodiscard]] octant::Work work() const {
        return {.bytes_read = 8 * piece_ * variant_.arrays_read, .bytes_written = 8 * piece_,
                .bytes_allocated = 8 * piece_, .flops = piece_ * variant_.flops};
    }

    // Against the plain loop below, written the slow way; every element that the chunks cover.
    octant::Verdict verify() {
        for (std::int64_t index = 0; index < pieces_; ++index)
            for (std::ptrdiff_t lane = 0; lane * slice_ < static_cast<std::ptrdiff_t>(a_.size()); ++lane)
                if (!corrupted_) chunk(static_cast<int>(lane), index);
        double worst = 0;
        for (std::size_t i = 0; i < a_.size(); ++i) {
            if (static_cast<std::ptrdiff_t>(i) % slice_ >= pieces_ * piece_) continue;
            worst = std::max(worst, std::abs(a_[i] - expected(static_cast<std::ptrdiff_t>(i))));
        }
        return {"largest difference from the plain loop", worst, 0};
    }

    void corrupt() {
        verify();
        corrupted_ = true;
        a_[a_.size() / 2] += 1;
    }

  private:
    static double b_at(std::ptrdiff_t i) { return static_cast<double>(i % 1021); }
    static double c_at(std::ptrdiff_t i) { return static_cast<double>(i % 509); }
    [[nodiscard]] double expected(std::ptrdiff_t i) const {
        double const b = b_at(i), c = c_at(i);
        if (variant_.loop == copy) return b;
        if (variant_.loop == scale) return scalar * b;
        return variant_.loop == add ? b + c : b + scalar * c;
    }

    Variant const& variant_;
    std::ptrdiff_t arrays_, slice_, piece_, pieces_;
    Buffer<double> a_, b_, c_;
    bool corrupted_ = false;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Stream>(argc, argv); }
