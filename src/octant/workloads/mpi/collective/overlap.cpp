#include "overlap.hpp"

#include "kernels/busy.hpp"
#include "octant/amounts.hpp"

#include <algorithm>
#include <vector>

namespace collective {
namespace {

// The median, against what others took from this core.
double median_seconds(octant::Context const& context, int times, std::function<void()> const& body) {
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) seconds.push_back(context.seconds_of(body));
    std::ranges::sort(seconds);
    return seconds[seconds.size() / 2];
}

}  // namespace

Overlap::Overlap(octant::Context& context, std::string const& test, std::function<void()> const& alone) {
    constexpr std::int64_t trial = 2000;
    constexpr int times = 11;
    double const unit_s = median_seconds(context, times, [&] { value_ = octant::busy(value_, trial); }) / trial;
    double const alone_s = context.group.max(median_seconds(context, times, alone));
    units_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(alone_s / unit_s));
    between_tests_ =
        test == "none" ? 0 : std::max<std::int64_t>(1, static_cast<std::int64_t>(octant::parse_seconds(test) / unit_s));
}

void Overlap::compute() { value_ = octant::busy(value_, units_); }

void Overlap::compute_beside(MPI_Request& request) {
    if (between_tests_ == 0) return compute();
    for (std::int64_t left = units_; left > 0; left -= between_tests_) {
        value_ = octant::busy(value_, std::min(left, between_tests_));
        int done = 0;
        if (request != MPI_REQUEST_NULL) octant::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    }
}

}  // namespace collective
