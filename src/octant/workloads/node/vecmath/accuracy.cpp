#include "accuracy.hpp"

#include "truth.hpp"

#include "kernels/worst.hpp"
#include "octant/failure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace vecmath {
namespace {

template <class Real>
double ulp_of(Real y) {
    using Limits = std::numeric_limits<Real>;
    if (y == 0) return static_cast<double>(Limits::denorm_min());
    return std::ldexp(1.0, std::max(std::ilogb(y), Limits::min_exponent - 1) - (Limits::digits - 1));
}

Accuracy summary(std::vector<double> errors, std::size_t not_rounded) {
    Accuracy found;
    for (double const error : errors) octant::keep_worst(found.largest_ulp, error);
    auto const rank = errors.begin() + static_cast<std::ptrdiff_t>(std::ceil(0.999 * static_cast<double>(truths))) - 1;
    std::ranges::replace_if(errors, [](double error) { return std::isnan(error); }, HUGE_VAL);
    std::ranges::nth_element(errors, rank);
    found.quantile_ulp = *rank;
    found.not_rounded = static_cast<double>(not_rounded) / static_cast<double>(truths);
    return found;
}

std::size_t part_of(Function const& function, Spread spread) {
    return 2 * static_cast<std::size_t>(&function - functions) + (spread == Spread::values ? 0 : 1);
}

}  // namespace

Accuracy accuracy(Function const& function, Spread spread, std::span<double const> results) {
    octant::expects(results.size() == truths && truth_bytes() == 2 * std::size(functions) * truths * 10);
    std::vector<double> errors(truths);
    std::size_t not_rounded = 0;
    for (std::size_t i = 0; i < truths; ++i) {
        Truth const right = truth(part_of(function, spread), i);
        errors[i] = std::abs((results[i] - right.high) / ulp_of(right.high) - right.rest);
        not_rounded += results[i] == right.high ? 0 : 1;
    }
    return summary(std::move(errors), not_rounded);
}

// The reference is the function of the C library in double precision: its errors, given in the table above, are about
// 2^-29 of the errors that are measured here.
Accuracy accuracy(Function const& function, Spread spread, std::span<float const> results) {
    octant::expects(results.size() == truths);
    Entry const entry = scalar_entry(function, false);
    std::vector<double> errors(truths);
    std::size_t not_rounded = 0;
    for (std::size_t i = 0; i < truths; ++i) {
        double const a = static_cast<float>(argument(function, spread, true, i, 0));
        double const b = static_cast<float>(argument(function, spread, true, i, 1));
        double const right = scalar_value(function, entry, a, b);
        auto const rounded = static_cast<float>(right);
        errors[i] = std::abs(static_cast<double>(results[i]) - right) / ulp_of(rounded);
        not_rounded += results[i] == rounded ? 0 : 1;
    }
    return summary(std::move(errors), not_rounded);
}

template <class Real>
double distance_ulp(Real x, Real y) {
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    if (!std::isfinite(x) || !std::isfinite(y)) return HUGE_VAL;
    return std::abs((static_cast<double>(x) - static_cast<double>(y)) / ulp_of(y));
}

template <class Real>
bool is_close(Real x, Real y, double bound_ulp) {
    bool const same_sign = std::signbit(x) == std::signbit(y) || std::isnan(y) || (x != 0 && y != 0);
    return same_sign && distance_ulp(x, y) <= bound_ulp;
}

template double distance_ulp(double x, double y);
template double distance_ulp(float x, float y);
template bool is_close(double x, double y, double bound_ulp);
template bool is_close(float x, float y, double bound_ulp);

}  // namespace vecmath
