#include "functions.hpp"

#include "kernels/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace vecmath {
namespace {

// Streams of random bits. Every step below is exact or rounded once, so that the script draws the same arguments.
enum Stream : std::uint64_t { of_value = 1, of_exponent = 3, of_mantissa = 5 };

std::uint64_t bits(std::size_t i, Stream stream, int input) {
    std::uint64_t const number = stream + static_cast<std::uint64_t>(input);
    return octant::mixed((i + 1) * octant::golden_step + number * 0xD1B54A32D192ED03U);
}

double share(std::uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }  // 0 to 1

double in(Range range, std::size_t i, int input) {
    return std::fma(range.high - range.low, share(bits(i, of_value, input)), range.low);
}

int exponent(Domain const& domain, std::size_t i) {
    auto const count = static_cast<std::uint64_t>(domain.most - domain.least + 1);
    return domain.least + static_cast<int>((bits(i, of_exponent, 0) >> 32) % count);
}

double scaled(bool either_sign, int power, std::size_t i, int input) {
    std::uint64_t const random = bits(i, of_mantissa, input);
    double const mantissa = 1 + static_cast<double>(random >> 12) * 0x1p-52;
    return std::ldexp(either_sign && (random & 1) != 0 ? -mantissa : mantissa, power);
}

}  // namespace

Function const& function_named(std::string const& name) {
    return *std::ranges::find_if(functions, [&](Function const& one) { return one.name == name; });
}

double argument(Function const& of, Spread spread, bool single, std::size_t i, int input) {
    Domain const& domain = single ? of.of_single : of.of_double;
    if (spread == Spread::values) return in(input == 0 ? domain.first : domain.second, i, input);
    int const power = exponent(domain, i);
    if (input == 0) return scaled(of.either_sign, power, i, input);
    if (of.second == Second::near)
        return scaled(of.either_sign, power - 30 + static_cast<int>((bits(i, of_exponent, 1) >> 32) % 61), i, input);
    double const most = (single ? 120.0 : 1000.0) / (std::abs(power) + 1);
    return (2 * share(bits(i, of_value, 1)) - 1) * most;
}

std::span<double const> special_values() {
    using Limits = std::numeric_limits<double>;
    static constexpr std::array values{
        0.0,
        -0.0,
        1.0,
        -1.0,
        Limits::infinity(),
        -Limits::infinity(),
        Limits::quiet_NaN(),
        5e-324,
        -5e-324,
        1e-310,
        static_cast<double>(std::numeric_limits<float>::denorm_min()),
        Limits::min(),
        Limits::max(),
        -Limits::max(),
        static_cast<double>(std::numeric_limits<float>::max()),
        88.75,
        -104.0,
        709.75,
        709.8125,
        -745.25,
        1024.0,
        -1074.0,
        1e22,
        0.5,
        3.0,
    };
    return values;
}

}  // namespace vecmath
