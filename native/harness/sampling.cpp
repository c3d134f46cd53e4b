#include "octant/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace octant {

namespace {

constexpr double fewest = 6;           // independent samples that an order-statistic interval needs
constexpr std::size_t groups = 4'096;  // sums of neighbours stand for longer series: their swings are as long

double product(std::span<double const> series, std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < series.size(); ++i) sum += series[i] * series[i - lag];
    return sum;
}

// -1, 0 or 1 for each sample below, at or above the median, less their mean.
std::vector<double> sides_of_median(std::span<double const> samples) {
    double const middle = median_interval(samples).middle;
    std::vector<double> sides;
    double sum = 0;
    for (double sample : samples) {
        sides.push_back(sample > middle ? 1 : sample < middle ? -1 : 0);
        sum += sides.back();
    }
    for (double& side : sides) side -= sum / static_cast<double>(samples.size());
    return sides;
}

}  // namespace

double correlation_time(std::span<double const> samples) {
    if (samples.size() < 4) return 1;
    auto const sides = sides_of_median(samples);
    double const variance = product(sides, 0);
    if (variance <= 1e-9) return 1;
    std::vector<double> sums(std::min(groups, sides.size()), 0.0);
    for (std::size_t i = 0; i < sides.size(); ++i) sums[i * sums.size() / sides.size()] += sides[i];
    double time = -product(sums, 0) / variance;
    for (std::size_t lag = 0; lag + 1 < sums.size() && time * fewest < static_cast<double>(samples.size()); lag += 2) {
        double const pair = product(sums, lag) + product(sums, lag + 1);
        if (pair <= 0) break;
        time += 2 * pair / variance;
    }
    return std::max(time, 1.0);
}

Interval median_interval(std::span<double const> samples, double correlation) {
    if (samples.empty()) return {0, 0, 0};
    std::vector<double> sorted(samples.begin(), samples.end());
    std::ranges::sort(sorted);
    auto const n = static_cast<double>(sorted.size());
    double const reach = n < fewest * correlation ? n : 0.98 * std::sqrt(n * correlation);  // 1.96 deviations
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
