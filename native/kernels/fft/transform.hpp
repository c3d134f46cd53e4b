// Transforms as programs ask for them: of one or two dimensions, complex or real, one or many; in the way that is
// quickest. X_k = sum_j x_j exp(-2 pi i j k / n), unscaled, in natural order; of real numbers n / 2 + 1 of each line.
#pragma once

#include "kernels/fft/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace octant::fft {

struct Shape {
    std::int64_t n;            // numbers of a line; even if they are real
    std::int64_t rows = 0;     // lines of a transform of two dimensions; 0: it has one
    std::int64_t batch = 1;    // transforms
    bool real = false;         // what goes in
    bool interleaved = false;  // number j of transform b lies at j batch + b, not at b n + j

    [[nodiscard]] std::int64_t lines() const { return (rows > 0 ? rows : 1) * batch; }
    [[nodiscard]] std::int64_t line_out() const { return real ? n / 2 + 1 : n; }
    [[nodiscard]] std::int64_t parts_in() const { return (real ? 1 : 2) * n * lines(); }  // real numbers
    [[nodiscard]] std::int64_t parts_out() const { return 2 * line_out() * lines(); }
};

template <class Real>
class Aligned {  // to 64 bytes
  public:
    explicit Aligned(std::vector<Real> const& values);
    [[nodiscard]] Real const* data() const { return reinterpret_cast<Real const*>(blocks_.data()); }
    [[nodiscard]] Real* data() { return reinterpret_cast<Real*>(blocks_.data()); }

  private:
    struct alignas(64) Block {
        Real values[64 / sizeof(Real)];
    };
    std::vector<Block> blocks_;
};

// Lines of one length, each complex and contiguous, by one of four ways: each in registers; folded, each into as many
// lanes as divide it; in groups of as many lines as a vector has elements; in two passes over memory.
enum class Way { in_registers, folded, grouped, two_passes };

template <class Real>
class LinesOf {
  public:
    LinesOf(std::int64_t n, Way way, WidthOf<Real> width, bool streaming = false);
    [[nodiscard]] static bool folds(std::int64_t n, WidthOf<Real> const& width);
    [[nodiscard]] static bool fits(std::int64_t n, WidthOf<Real> const& width);  // into registers

    void run(Real const* in, std::int64_t in_pitch, Real* out, std::int64_t out_pitch, std::int64_t lines,
             Real* scratch) const;

    [[nodiscard]] std::size_t scratch_numbers() const;
    [[nodiscard]] std::int64_t flops() const;  // of one line
    [[nodiscard]] std::string name() const;    // "each line in registers of 4 numbers", "groups of 8 lines"

  private:
    std::int64_t n_;
    Way way_;
    WidthOf<Real> width_;
    bool streaming_;
    StagesOf<Real> stages_;
    Aligned<Real> turns_;
    FoldOf<Real> fold_;
    ShortCall<Real> in_registers_;
    std::unique_ptr<PlanOf<Real>> plan_;
};

template <class Real>
class TransformOf {
  public:
    // `widest`: of `widths()`; narrower vectors are used where a length needs them. `n` and `rows` are smooth.
    TransformOf(Shape const& shape, WidthOf<Real> const& widest);

    // Tries all ways on these arrays, which are overwritten, and keeps the quickest.
    void choose(Real const* in, Real* out, Real* scratch);
    void forward(Real const* in, Real* out, Real* scratch) const;

    [[nodiscard]] std::size_t scratch_numbers() const;  // real ones, of each thread, aligned to 64 bytes
    [[nodiscard]] std::int64_t flops() const;           // real operations of all, counted from the source
    [[nodiscard]] std::string way() const;
    [[nodiscard]] double planning_s() const noexcept { return planning_s_; }  // what tables and trials took

  private:
    void make(WidthOf<Real> const& widest);
    void run_lines(LinesOf<Real> const& by, Real const* in, Real* out, Real* scratch) const;
    void columns(Real const* in, Real* out, std::int64_t lines, Real* scratch) const;

    Shape shape_;
    PassesOf<Real> passes_;
    std::vector<LinesOf<Real>> ways_;  // the one in use first
    std::unique_ptr<StagesOf<Real>> columns_;
    std::vector<Real> halves_;
    double planning_s_ = 0;
};

inline constexpr std::int64_t longest_grouped = 4096, min_passed = 1024, min_streamed = 1 << 14;
inline constexpr std::int64_t longest_folded_bytes = 1 << 18;  // of the real parts of a line

extern template class TransformOf<double>;
extern template class TransformOf<float>;

}  // namespace octant::fft
