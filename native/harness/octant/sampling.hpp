// Statistics during measurements: end of the warm-up, and precision of the median.
#pragma once

#include <cstddef>
#include <span>

namespace octant {

struct Interval {
    double low, middle, high;
    [[nodiscard]] double relative_half_width() const { return middle > 0 ? (high - low) / (2 * middle) : 0; }
};

// Number of consecutive samples that count as one for the median: the integrated autocorrelation time of "above or
// below" (Heidelberger and Lewis 1984; initial positive sequence, Geyer 1992), at least 1. It is limited so that enough
// samples remain for an interval.
[[nodiscard]] double correlation_time(std::span<double const> samples);

// Median with its distribution-free 95 % confidence interval from order statistics (Le Boudec 2010, section 2.2), where
// n samples count as n / correlation; the range where these are fewer than six.
[[nodiscard]] Interval median_interval(std::span<double const> samples, double correlation = 1);

// Samples to drop at the front: the truncation that minimises the standard error of the rest (MSER, White 1997), on
// values clipped at the 95th percentile so that one preempted sample has little influence. At most half of them.
[[nodiscard]] std::size_t warmup_length(std::span<double const> samples);

}  // namespace octant
