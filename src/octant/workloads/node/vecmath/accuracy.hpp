// Errors of results in units in the last place of the exact value, rounded to the type of the result.
#pragma once

#include "functions.hpp"
#include "libraries.hpp"

#include <span>

namespace vecmath {

struct Accuracy {
    double largest_ulp = 0;
    double quantile_ulp = 0;  // 99.9 % of the results are no farther
    double not_rounded = 0;   // the share of results that are not the nearest number
};

// `results[i]` at argument i of the distribution, for the first `truths` of them.
[[nodiscard]] Accuracy accuracy(Function const& function, Spread spread, std::span<double const> results);
[[nodiscard]] Accuracy accuracy(Function const& function, Spread spread, std::span<float const> results);

// |x - y| in units in the last place of y; 0 for two NaNs, infinite where only one of them is a number.
template <class Real>
[[nodiscard]] double distance_ulp(Real x, Real y);

// The same, and of zeros and infinities also the sign.
template <class Real>
[[nodiscard]] bool is_close(Real x, Real y, double bound_ulp);

// The scalar function at one argument or two.
template <class Real>
[[nodiscard]] Real scalar_value(Function const& function, Entry entry, Real a, Real b) {
    if (function.second == Second::none) return reinterpret_cast<Real (*)(Real)>(entry)(a);
    return reinterpret_cast<Real (*)(Real, Real)>(entry)(a, b);
}

}  // namespace vecmath
