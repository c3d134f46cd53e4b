#include "octant/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace octant {

Interval median_interval(std::span<double const> samples) {
    if (samples.empty()) return {0, 0, 0};
    std::vector<double> sorted(samples.begin(), samples.end());
    std::ranges::sort(sorted);
    auto const n = static_cast<double>(sorted.size());
    double const reach = 0.98 * std::sqrt(n);  // 1.96 standard deviations of a fair binomial
    auto const clamp = [&](double index) { return sorted[static_cast<std::size_t>(std::clamp(index, 0.0, n - 1))]; };
    double const middle = (clamp(std::floor((n - 1) / 2)) + clamp(std::ceil((n - 1) / 2))) / 2;
    return {clamp(std::floor(n / 2 - reach) - 1), middle, clamp(std::ceil(n / 2 + reach))};
}

std::size_t warmup_length(std::span<double const> samples) {
    constexpr std::size_t few = 10;
    if (samples.size() < few) return 0;
    std::vector<double> clipped(samples.begin(), samples.end());
    auto const at95 = clipped.begin() + static_cast<std::ptrdiff_t>(clipped.size() * 95 / 100);
    std::ranges::nth_element(clipped, at95);
    double const ceiling = *at95;
    double sum = 0, squares = 0, best = std::numeric_limits<double>::infinity();
    std::size_t drop = 0;
    for (std::size_t kept = 1; kept <= samples.size(); ++kept) {  // from the back: `kept` last samples
        double const x = std::min(samples[samples.size() - kept], ceiling);
        sum += x;
        squares += x * x;
        if (2 * kept < samples.size()) continue;
        auto const n = static_cast<double>(kept);
        double const error = std::max(0.0, squares - sum * sum / n) / (n * n);
        if (error <= best) {
            best = error;
            drop = samples.size() - kept;
        }
    }
    return drop;
}

}  // namespace octant
