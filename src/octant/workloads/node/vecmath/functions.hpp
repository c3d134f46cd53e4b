// The functions that are timed, and from which arguments.
#pragma once

#include <span>
#include <string>

namespace vecmath {

struct Range {
    double low, high;
};

enum class Second { none, range, near, power };  // of two inputs; near: within 2^30 of the first; power: no overflow

// Distributions of arguments: uniform in value over the ranges, uniform in exponent from 2^least to 2^(most + 1).
struct Domain {
    Range first;
    Range second;
    int least, most;
};

struct Function {
    char const* name;
    char const* in_vml;  // what Intel's vector library calls it
    Second second;
    bool either_sign;  // of arguments that are uniform in exponent
    double libm_ulp;   // at most, of a C library's own, by glibc's manual and the worst cases known
    Domain of_double, of_single;
};

// No result is below the normal numbers or overflows. The truth table's script reads these lines: one function a line.
// clang-format off
inline constexpr Function functions[] = {
    {"exp", "Exp", Second::none, true, 1, {{-700, 700}, {}, -30, 8}, {{-80, 80}, {}, -20, 5}},
    {"exp2", "Exp2", Second::none, true, 1, {{-1000, 1000}, {}, -30, 8}, {{-120, 120}, {}, -20, 5}},
    {"expm1", "Expm1", Second::none, true, 1, {{-20, 20}, {}, -60, 8}, {{-20, 20}, {}, -30, 5}},
    {"log", "Ln", Second::none, false, 1, {{0.0009765625, 1000}, {}, -1022, 1023}, {{0.0009765625, 1000}, {}, -126, 126}},
    {"log1p", "Log1p", Second::none, false, 1, {{-0.875, 100}, {}, -60, 1018}, {{-0.875, 100}, {}, -30, 125}},
    {"log10", "Log10", Second::none, false, 3, {{0.0009765625, 1000}, {}, -1022, 1023}, {{0.0009765625, 1000}, {}, -126, 126}},
    {"sin", "Sin", Second::none, true, 1, {{-3.140625, 3.140625}, {}, -30, 1023}, {{-3.140625, 3.140625}, {}, -20, 126}},
    {"cos", "Cos", Second::none, true, 1, {{-3.140625, 3.140625}, {}, -30, 1023}, {{-3.140625, 3.140625}, {}, -20, 126}},
    {"tan", "Tan", Second::none, true, 2, {{-1.5, 1.5}, {}, -30, 1023}, {{-1.5, 1.5}, {}, -20, 126}},
    {"asin", "Asin", Second::none, true, 1, {{-1, 1}, {}, -60, -1}, {{-1, 1}, {}, -30, -1}},
    {"acos", "Acos", Second::none, true, 1, {{-1, 1}, {}, -60, -1}, {{-1, 1}, {}, -30, -1}},
    {"atan", "Atan", Second::none, true, 1, {{-10, 10}, {}, -60, 1023}, {{-10, 10}, {}, -30, 126}},
    {"atan2", "Atan2", Second::near, true, 2, {{-10, 10}, {-10, 10}, -900, 900}, {{-10, 10}, {-10, 10}, -90, 90}},
    {"sinh", "Sinh", Second::none, true, 3, {{-20, 20}, {}, -60, 8}, {{-20, 20}, {}, -30, 5}},
    {"tanh", "Tanh", Second::none, true, 3, {{-3, 3}, {}, -60, 8}, {{-3, 3}, {}, -30, 5}},
    {"pow", "Pow", Second::power, false, 1, {{0.125, 10}, {-20, 20}, -1022, 1023}, {{0.125, 10}, {-20, 20}, -126, 126}},
    {"cbrt", "Cbrt", Second::none, true, 4, {{-1000, 1000}, {}, -1022, 1023}, {{-1000, 1000}, {}, -126, 126}},
    {"erf", "Erf", Second::none, true, 2, {{-3, 3}, {}, -60, 2}, {{-3, 3}, {}, -30, 1}},
    {"sqrt", "Sqrt", Second::none, false, 1, {{0, 1000}, {}, -1022, 1023}, {{0, 1000}, {}, -126, 126}},
    {"rsqrt", "InvSqrt", Second::none, false, 2, {{0.0009765625, 1000}, {}, -1022, 1023}, {{0.0009765625, 1000}, {}, -126, 126}},
    {"div", "Div", Second::near, true, 1, {{1, 1000}, {1, 1000}, -900, 900}, {{1, 1000}, {1, 1000}, -90, 90}},
    {"recip", "Inv", Second::none, true, 1, {{1, 1000}, {}, -1000, 1000}, {{1, 1000}, {}, -120, 120}},
    {"hypot", "Hypot", Second::near, true, 1, {{-1000, 1000}, {-1000, 1000}, -900, 900}, {{-1000, 1000}, {-1000, 1000}, -90, 90}},
};
// clang-format on

[[nodiscard]] Function const& function_named(std::string const& name);  // one of the above

enum class Spread { values, exponents };  // how arguments are distributed: uniform in value, or in exponent

// Argument number `i`, the same on every machine; `input` 0 or 1.
[[nodiscard]] double argument(Function const& of, Spread spread, bool single, std::size_t i, int input);

// Zeros, infinities, NaN, the smallest, the largest, and where results over- or underflow.
[[nodiscard]] std::span<double const> special_values();

}  // namespace vecmath
