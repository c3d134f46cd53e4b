// Medians, their intervals and warm-up against values worked out by hand.
#include "octant/sampling.hpp"
#include "octant/stopping.hpp"

#include "check.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

namespace {

std::vector<double> counted(int n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

void medians(octant::Checks& checks) {
    checks.near(octant::median_interval(std::vector{5.0}).middle, 5, 0);
    checks.near(octant::median_interval(std::vector{4.0, 1.0, 3.0, 2.0}).middle, 2.5, 0);
    checks.near(octant::median_interval(std::vector<double>{}).middle, 0, 0);
    // n = 100: 50 -+ 0.98 sqrt(100) are the 40th and the 61st value.
    auto const found = octant::median_interval(counted(100));
    checks.near(found.middle, 50.5, 0);
    checks.near(found.low, 40, 0);
    checks.near(found.high, 61, 0);
    checks.near(found.relative_half_width(), 21.0 / 101, 1e-12);
}

// First-order autoregressive with normal steps: `memory` is the correlation of neighbours.
std::vector<double> autoregressive(std::size_t n, double memory) {
    std::mt19937 generator(5);
    std::normal_distribution<double> normal;
    std::vector<double> values;
    double now = normal(generator);
    for (std::size_t i = 0; i < n; ++i) {
        values.push_back(now);
        now = memory * now + std::sqrt(1 - memory * memory) * normal(generator);
    }
    return values;
}

void correlations(octant::Checks& checks) {
    // The side of the median has correlation (2/pi) asin(memory^k) at lag k (Sheppard): in all this many samples.
    double exact = 1;
    for (int k = 1; k < 400; ++k) exact += 4 / std::numbers::pi * std::asin(std::pow(0.8, k));
    checks.near(octant::correlation_time(autoregressive(4'000, 0.8)), exact, 0.25 * exact);
    checks.near(octant::correlation_time(autoregressive(200'000, 0.8)), exact, 0.1 * exact);  // by sums of neighbours
    checks.near(octant::correlation_time(autoregressive(200'000, 0)), 1, 0.1);
    checks.near(octant::correlation_time(std::vector<double>(50, 7.0)), 1, 0);
    checks.near(octant::correlation_time(std::vector{1.0, 2.0}), 1, 0);
    auto const trend = counted(1000);
    checks.that(octant::correlation_time(trend) > 1000 / 6.0, "a trend is one long swing");
    auto const wide = octant::median_interval(trend, octant::correlation_time(trend));
    checks.that(wide.low <= 1 && wide.high >= 1000, "of which only the range is known");
    // n = 100 of which 25 count: 50 -+ 0.98 sqrt(400) are the 30th and the 71st value.
    checks.near(octant::median_interval(counted(100), 4).low, 30, 0);
    checks.near(octant::median_interval(counted(100), 4).high, 71, 0);
}

void warmups(octant::Checks& checks) {
    checks.that(octant::warmup_length(counted(5)) == 0, "too few to say");
    std::vector<double> samples(100);
    std::uint32_t state = 7;
    for (auto& sample : samples) {
        state = state * 1664525U + 1013904223U;
        sample = 100 + static_cast<double>(state >> 24) / 256;
    }
    checks.that(octant::warmup_length(samples) < 50, "at most half");
    for (std::size_t i = 0; i < 12; ++i) samples[i] = 200 - 5 * static_cast<double>(i);
    auto const drop = octant::warmup_length(samples);
    checks.that(drop >= 11 && drop <= 16, "12 slow samples at the front, found " + std::to_string(drop));
    samples[60] = 1e6;
    checks.that(octant::warmup_length(samples) <= 16, "one preempted sample does not decide");
}

// Samples 0 to 2 and 5 to 6 had marks; 3, 4, 7 and 8 had none.
void ranges(octant::Checks& checks) {
    octant::Ranges const off = {{3, 5}, {7, 9}};
    std::vector<std::int64_t> const series = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    checks.that(octant::within(series, off) == std::vector<double>{3, 4, 7, 8}, "what lies in the ranges");
    checks.that(octant::within(series, {}).size() == series.size(), "no range, all of them");
    checks.that(octant::place_in(off, 0) == 0, "nothing to drop begins at the begin");
    checks.that(octant::place_in(off, 1) == 4, "one dropped: from the second of the first range on");
    checks.that(octant::place_in(off, 2) == 7, "two dropped: from the next range on");
    checks.that(octant::place_in(off, 4) == 9, "all dropped: behind the last range");
    checks.that(octant::place_in({}, 5) == 5, "without ranges as counted");
}

}  // namespace

int main() {
    octant::Checks checks;
    medians(checks);
    correlations(checks);
    warmups(checks);
    ranges(checks);
    return checks.result();
}
