#include "octant/phases.hpp"

#include "octant/failure.hpp"

#include <algorithm>
#include <utility>

namespace octant {

Marks::Marks(std::vector<std::string> paths, std::int64_t samples)
    : paths_(std::move(paths)), totals_(paths_.size()), series_(paths_.size()) {
    for (auto const& path : paths_) {
        auto const slash = path.rfind('/');
        expects(slash == std::string::npos || std::ranges::find(paths_, path.substr(0, slash)) != paths_.end());
    }
    for (auto& series : series_) {
        series.ns.reserve(static_cast<std::size_t>(samples));
        series.entries.reserve(static_cast<std::size_t>(samples));
    }
}

void Marks::start() noexcept {
    if (on_) std::ranges::fill(totals_, Total{});
}

void Marks::keep(std::int64_t duration_ns) {
    if (!on_) return;
    for (std::size_t i = 0; i < totals_.size(); ++i) {
        series_[i].ns.push_back(totals_[i].ns);
        series_[i].entries.push_back(totals_[i].entries);
        all_entries_ += totals_[i].entries;
    }
    ++samples_;
    quickest_ns_ = std::min(quickest_ns_, std::max<std::int64_t>(duration_ns, 1));
}

double Marks::share(double mark_ns) const noexcept {
    if (samples_ == 0) return 0;
    return static_cast<double>(all_entries_) * mark_ns / static_cast<double>(samples_ * quickest_ns_);
}

MarkQuality measure_marks() {
    constexpr int trials = 500, marks_a_trial = 20;
    Marks marks({"empty"}, trials);
    marks.switch_on(true);
    std::vector<std::int64_t> costs;
    for (int i = 0; i < trials; ++i) {
        marks.start();
        std::int64_t const begin = now_ns();
        for (int k = 0; k < marks_a_trial; ++k) auto const mark = marks.mark(0);
        costs.push_back(now_ns() - begin);
        marks.keep(costs.back());
    }
    auto const median = [](std::vector<std::int64_t> values) {
        std::ranges::nth_element(values, values.begin() + trials / 2);
        return static_cast<double>(values[trials / 2]) / marks_a_trial;
    };
    return {median(costs), median(marks.series()[0].ns)};
}

}  // namespace octant
