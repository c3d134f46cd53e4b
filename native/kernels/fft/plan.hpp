// The discrete Fourier transform X_k = sum_j x_j exp(-2 pi i j k / n), unscaled, in natural order, for n = 2^a 3^b 5^c:
// two passes over memory (Bailey 1990). x is a matrix of n1 rows and n2 columns, j = j1 n2 + j2; pass one transforms
// its columns and multiplies by exp(-2 pi i k1 j2 / n), pass two transforms its rows and stores X at k2 n1 + k1: of the
// six steps all transpositions are part of a pass. Complex numbers are pairs (real, imaginary).
#pragma once

#include "kernels/fft/passes.hpp"
#include "kernels/fft/reference.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace octant::fft {

[[nodiscard]] bool is_smooth(std::int64_t n);                // n > 0 has no prime factor but 2, 3 and 5
[[nodiscard]] std::int64_t smooth_at_most(std::int64_t n);   // the largest such number, n >= 1
[[nodiscard]] std::int64_t smooth_at_least(std::int64_t n);  // the least such number, n >= 1

// exp(-2 pi i exponent / n) of the n of `roots`, rounded from long double.
template <class Real>
void append_root(std::vector<Real>& table, ExactRoots const& roots, std::int64_t exponent);

template <class Real>
struct WidthOf {
    std::string name;  // "scalar", or bits of a vector: "128", "256", "512"
    PassesOf<Real> passes;
};
template <class Real>
[[nodiscard]] std::vector<WidthOf<Real>> widths();  // of this processor, narrow to wide

[[nodiscard]] std::int64_t butterfly_flops(int radix);

// The stages of a short transform and their twiddles; immutable, its pointers stay when it is moved.
template <class Real>
class StagesOf {
  public:
    StagesOf(std::int64_t length, int largest_radix);
    [[nodiscard]] LineOf<Real> line() const { return {length_, static_cast<int>(stages_.size()), stages_.data()}; }
    [[nodiscard]] std::int64_t flops(std::int64_t numbers) const noexcept;  // of transforms of `numbers` in all

  private:
    std::int64_t length_;
    std::vector<std::vector<Real>> twiddles_;
    std::vector<StageOf<Real>> stages_;
};

template <class Real>
class PlanOf {  // what is computed once for a length; immutable, so that threads may share it
  public:
    // `shares` divides both sides of the matrix if it can.
    PlanOf(std::int64_t n, WidthOf<Real> const& width, std::int64_t shares = 1);
    [[nodiscard]] static std::int64_t rows_of(std::int64_t n, std::int64_t shares);  // without making a plan

    PlanOf(PlanOf const&) = delete;  // its stages point into its tables
    PlanOf& operator=(PlanOf const&) = delete;
    ~PlanOf() = default;

    [[nodiscard]] std::int64_t n() const noexcept { return rows_ * columns_; }
    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }        // n1, of the matrix x; columns of X
    [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }  // n2
    [[nodiscard]] std::int64_t flops() const noexcept;           // real operations, counted from the stages
    [[nodiscard]] std::size_t scratch_numbers() const noexcept;  // real ones, of each thread, aligned to 64 bytes
    [[nodiscard]] int lanes() const noexcept { return passes_.lanes; }

    // Pass one over columns first … first + lines of the matrix, whose first one is at `in`, and pass two over rows.
    struct Ends {
        Real const* in;
        std::int64_t in_pitch;
        Real* out;
        std::int64_t out_pitch;
    };
    void transform_columns(Ends ends, std::int64_t first, std::int64_t lines, bool streaming, Real* scratch) const;
    // Pass one without the multiplication, for what that costs: not a part of a transform.
    void transform_plain_columns(Ends ends, std::int64_t lines, bool streaming, Real* scratch) const;
    void transform_rows(Ends ends, std::int64_t lines, bool streaming, Real* scratch) const;

    // The same where the elements of a line are in several places.
    struct Places {  // of each element that goes out, of the first line; some may be stored past the caches
        Real* const* out;
        std::int64_t first_streamed = 0, last_streamed = 0;
    };
    void transform_columns(Real const* const* in, Places const& places, std::int64_t first, std::int64_t lines,
                           Real* scratch) const;
    void transform_rows(std::span<PieceOf<Real> const> in, Places const& places, std::int64_t lines,
                        Real* scratch) const;

    // Of n numbers each; `work` may be `in`, which is lost then; `out` may be `in`, but not `work`.
    void forward(Real const* in, Real* work, Real* out, bool streaming, Real* scratch) const;

  private:
    PassesOf<Real> passes_;
    std::int64_t rows_, columns_;
    StagesOf<Real> column_stages_, row_stages_;
    std::vector<Real> fine_, coarse_;
    RootsOf<Real> roots_{};
};

extern template class StagesOf<double>;
extern template class StagesOf<float>;
extern template class PlanOf<double>;
extern template class PlanOf<float>;

using Width = WidthOf<double>;
using Plan = PlanOf<double>;

}  // namespace octant::fft
