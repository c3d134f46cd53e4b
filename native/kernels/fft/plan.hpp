// The discrete Fourier transform X_k = sum_j x_j exp(-2 pi i j k / n), unscaled, in natural order, for n = 2^a 3^b 5^c:
// two passes over memory (Bailey 1990). x is a matrix of n1 rows and n2 columns, j = j1 n2 + j2; pass one transforms
// its columns and multiplies by exp(-2 pi i k1 j2 / n), pass two transforms its rows and stores X at k2 n1 + k1: of the
// six steps all transpositions are part of a pass. Complex numbers are pairs of doubles (real, imaginary).
#pragma once

#include "kernels/fft/passes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace octant::fft {

[[nodiscard]] bool is_smooth(std::int64_t n);               // n > 0 has no prime factor but 2, 3 and 5
[[nodiscard]] std::int64_t smooth_at_most(std::int64_t n);  // the largest such number, n >= 1

struct Root {
    double re, im;
};
[[nodiscard]] Root root(std::int64_t exponent,
                        std::int64_t n);  // exp(-2 pi i exponent / n), each part correctly rounded

struct Width {
    std::string name;  // "128", "256", "512": bits of a vector
    Passes passes;
};
[[nodiscard]] std::vector<Width> widths();  // of this processor, narrow to wide

class Plan {  // what is computed once for a length; immutable, so that threads may share it
  public:
    // `shares` divides both sides of the matrix if it can.
    Plan(std::int64_t n, Width const& width, std::int64_t shares = 1);
    [[nodiscard]] static std::int64_t rows_of(std::int64_t n, std::int64_t shares);  // without making a plan

    Plan(Plan const&) = delete;  // its stages point into its tables
    Plan& operator=(Plan const&) = delete;
    ~Plan() = default;

    [[nodiscard]] std::int64_t n() const noexcept { return rows_ * columns_; }
    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }        // n1, of the matrix x; columns of X
    [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }  // n2
    [[nodiscard]] std::int64_t flops() const noexcept;           // real operations, counted from the stages
    [[nodiscard]] std::size_t scratch_doubles() const noexcept;  // of each thread, aligned to 64 bytes
    [[nodiscard]] int lanes() const noexcept { return passes_.lanes; }

    // Pass one over columns first … first + lines of the matrix, whose first one is at `in`, and pass two over rows.
    struct Ends {
        double const* in;
        std::int64_t in_pitch;
        double* out;
        std::int64_t out_pitch;
    };
    void transform_columns(Ends ends, std::int64_t first, std::int64_t lines, bool streaming, double* scratch) const;
    // Pass one without the multiplication, for what that costs: not a part of a transform.
    void transform_plain_columns(Ends ends, std::int64_t lines, bool streaming, double* scratch) const;
    void transform_rows(Ends ends, std::int64_t lines, bool streaming, double* scratch) const;

    // The same where the elements of a line are in several places.
    struct Places {  // of each element that goes out, of the first line; some may be stored past the caches
        double* const* out;
        std::int64_t first_streamed = 0, last_streamed = 0;
    };
    void transform_columns(double const* const* in, Places const& places, std::int64_t first, std::int64_t lines,
                           double* scratch) const;
    void transform_rows(std::span<Piece const> in, Places const& places, std::int64_t lines, double* scratch) const;

    // Of n numbers each; `work` may be `in`, which is lost then; `out` may be `in`, but not `work`.
    void forward(double const* in, double* work, double* out, bool streaming, double* scratch) const;

  private:
    struct Stages {
        std::vector<std::vector<double>> twiddles;
        std::vector<Stage> stage;
    };
    static Stages stages(std::int64_t length, int largest_radix);
    [[nodiscard]] static Line line(Stages const& of, std::int64_t length);

    Passes passes_;
    std::int64_t rows_, columns_;
    Stages column_stages_, row_stages_;
    std::vector<double> fine_, coarse_;
    Roots roots_{};
};

}  // namespace octant::fft
