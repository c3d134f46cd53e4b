// Every function in a plain loop, for the compiler to make what it may of it: included by files that are compiled with
// other rules of arithmetic. All of it is local to each: of a function that two files share the linker keeps one, and
// the loops of one would call what was compiled by the rules of the other.
#pragma once

#include "loops.hpp"

#include <cmath>
#include <string_view>
#include <type_traits>

namespace {

template <class Real, auto f>
void map_one(vecmath::Called, Real const* a, Real const*, Real* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] = f(a[i]);
}

template <class Real, auto f>
void map_two(vecmath::Called, Real const* a, Real const* b, Real* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
}

template <class Real>
struct Named {
    std::string_view name;
    vecmath::Loop<Real> loop;
};

// Declared as in C: the C++ overloads for float hide the vector variants.
constexpr Named<double> doubles[] = {
    {"exp", map_one<double, [](double x) { return ::exp(x); }>},
    {"exp2", map_one<double, [](double x) { return ::exp2(x); }>},
    {"expm1", map_one<double, [](double x) { return ::expm1(x); }>},
    {"log", map_one<double, [](double x) { return ::log(x); }>},
    {"log1p", map_one<double, [](double x) { return ::log1p(x); }>},
    {"log10", map_one<double, [](double x) { return ::log10(x); }>},
    {"sin", map_one<double, [](double x) { return ::sin(x); }>},
    {"cos", map_one<double, [](double x) { return ::cos(x); }>},
    {"tan", map_one<double, [](double x) { return ::tan(x); }>},
    {"asin", map_one<double, [](double x) { return ::asin(x); }>},
    {"acos", map_one<double, [](double x) { return ::acos(x); }>},
    {"atan", map_one<double, [](double x) { return ::atan(x); }>},
    {"sinh", map_one<double, [](double x) { return ::sinh(x); }>},
    {"tanh", map_one<double, [](double x) { return ::tanh(x); }>},
    {"cbrt", map_one<double, [](double x) { return ::cbrt(x); }>},
    {"erf", map_one<double, [](double x) { return ::erf(x); }>},
    {"sqrt", map_one<double, [](double x) { return ::sqrt(x); }>},
    {"atan2", map_two<double, [](double x, double z) { return ::atan2(x, z); }>},
    {"pow", map_two<double, [](double x, double z) { return ::pow(x, z); }>},
    {"hypot", map_two<double, [](double x, double z) { return ::hypot(x, z); }>},
    {"rsqrt", map_one<double, [](double x) { return 1 / ::sqrt(x); }>},
    {"recip", map_one<double, [](double x) { return 1 / x; }>},
    {"div", map_two<double, [](double x, double z) { return x / z; }>},
};
constexpr Named<float> singles[] = {
    {"exp", map_one<float, [](float x) { return ::expf(x); }>},
    {"exp2", map_one<float, [](float x) { return ::exp2f(x); }>},
    {"expm1", map_one<float, [](float x) { return ::expm1f(x); }>},
    {"log", map_one<float, [](float x) { return ::logf(x); }>},
    {"log1p", map_one<float, [](float x) { return ::log1pf(x); }>},
    {"log10", map_one<float, [](float x) { return ::log10f(x); }>},
    {"sin", map_one<float, [](float x) { return ::sinf(x); }>},
    {"cos", map_one<float, [](float x) { return ::cosf(x); }>},
    {"tan", map_one<float, [](float x) { return ::tanf(x); }>},
    {"asin", map_one<float, [](float x) { return ::asinf(x); }>},
    {"acos", map_one<float, [](float x) { return ::acosf(x); }>},
    {"atan", map_one<float, [](float x) { return ::atanf(x); }>},
    {"sinh", map_one<float, [](float x) { return ::sinhf(x); }>},
    {"tanh", map_one<float, [](float x) { return ::tanhf(x); }>},
    {"cbrt", map_one<float, [](float x) { return ::cbrtf(x); }>},
    {"erf", map_one<float, [](float x) { return ::erff(x); }>},
    {"sqrt", map_one<float, [](float x) { return ::sqrtf(x); }>},
    {"atan2", map_two<float, [](float x, float z) { return ::atan2f(x, z); }>},
    {"pow", map_two<float, [](float x, float z) { return ::powf(x, z); }>},
    {"hypot", map_two<float, [](float x, float z) { return ::hypotf(x, z); }>},
    {"rsqrt", map_one<float, [](float x) { return 1 / ::sqrtf(x); }>},
    {"recip", map_one<float, [](float x) { return 1 / x; }>},
    {"div", map_two<float, [](float x, float z) { return x / z; }>},
};

template <class Real, std::size_t count>
vecmath::Loop<Real> found(Named<Real> const (&all)[count], std::string_view name) {
    for (auto const& one : all)
        if (one.name == name) return one.loop;
    return nullptr;
}

}  // namespace
