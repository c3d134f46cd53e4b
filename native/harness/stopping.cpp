#include "octant/stopping.hpp"

#include "octant/sampling.hpp"

#include <algorithm>
#include <span>

namespace octant {
namespace {

constexpr int min_bursts = 4;  // samples of one burst resemble each other: no interval from fewer

bool precise(std::vector<double> const& samples, Settings const& settings) {
    std::size_t const cut = settings.settles ? warmup_length(samples) : static_cast<std::size_t>(settings.warmup);
    auto const warm = std::span(samples).subspan(std::min(cut, samples.size()));
    return static_cast<std::int64_t>(warm.size()) >= settings.least &&
           median_interval(warm, correlation_time(warm)).relative_half_width() <= settings.precision;
}

}  // namespace

std::string reason_to_stop(Comm const& world, std::vector<std::vector<double>> const& watched, Spent const& spent,
                           Settings const& settings) {
    std::int64_t const most = world.max(spent.samples);
    double const end_s = world.max(spent.elapsed_s + spent.next_s);
    if (most <= settings.warmup) return "";
    if (spent.bursts >= min_bursts && settings.precision > 0) {
        bool const mine = std::ranges::all_of(watched, [&](auto const& series) { return precise(series, settings); });
        if (world.max(std::int64_t{mine ? 0 : 1}) == 0) return "interval";
    }
    if (most >= settings.samples + settings.warmup) return "samples";
    return end_s >= settings.seconds ? "time" : "";
}

std::vector<double> within(std::vector<std::int64_t> const& series, Ranges const& off) {
    if (off.empty()) return {series.begin(), series.end()};
    std::vector<double> values;
    for (auto const& [from, to] : off) {
        auto const end = std::min(to, static_cast<std::int64_t>(series.size()));
        for (auto i = from; i < end; ++i) values.push_back(static_cast<double>(series[static_cast<std::size_t>(i)]));
    }
    return values;
}

std::int64_t place_in(Ranges const& off, std::int64_t number) {
    if (number == 0 || off.empty()) return number;
    for (auto const& [from, to] : off) {
        if (number < to - from) return from + number;
        number -= to - from;
    }
    return off.back().second;
}

}  // namespace octant
