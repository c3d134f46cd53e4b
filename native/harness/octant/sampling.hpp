// Statistics that the harness needs while it measures: when is it warm, when is it enough.
#pragma once

#include <cstddef>
#include <span>

namespace octant {

struct Interval {
    double low, middle, high;
    [[nodiscard]] double relative_half_width() const { return middle > 0 ? (high - low) / (2 * middle) : 0; }
};

// Median with its distribution-free 95 % confidence interval from order statistics (Le Boudec 2010, section 2.2).
[[nodiscard]] Interval median_interval(std::span<double const> samples);

// Samples to drop at the front: the truncation that minimises the standard error of the rest (MSER, White 1997), on
// values clipped at the 95th percentile so that one preempted sample does not decide. At most half of them.
[[nodiscard]] std::size_t warmup_length(std::span<double const> samples);

}  // namespace octant
