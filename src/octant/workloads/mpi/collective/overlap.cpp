#include "overlap.hpp"

#include "kernels/busy.hpp"
#include "octant/amounts.hpp"

#include <algorithm>

namespace collective {
Overlap::Overlap(octant::Context& context, std::string const& test, std::function<void()> const& alone) {
    auto const seconds_of = [&](std::function<void()> const& body) { return context.seconds_of(body); };
    double const unit_s = octant::unit_seconds(seconds_of, value_);
    double const alone_s = context.group.max(octant::median_seconds(seconds_of, alone));
    units_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(alone_s / unit_s));
    between_tests_ =
        test == "none" ? 0 : std::max<std::int64_t>(1, static_cast<std::int64_t>(octant::parse_seconds(test) / unit_s));
}

void Overlap::compute() { value_ = octant::busy(value_, units_); }

void Overlap::compute_and_test(MPI_Request& request) {
    if (between_tests_ == 0) return compute();
    for (std::int64_t left = units_; left > 0; left -= between_tests_) {
        value_ = octant::busy(value_, std::min(left, between_tests_));
        int done = 0;
        if (request != MPI_REQUEST_NULL) octant::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    }
}

}  // namespace collective
