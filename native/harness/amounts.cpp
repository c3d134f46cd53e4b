#include "octant/amounts.hpp"

#include "octant/failure.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

namespace octant {
namespace {

constexpr std::size_t max_digits = 18;  // so that all of them are one int64_t
constexpr std::int64_t max_bytes = 999'999'999'999'999'999;
constexpr double max_seconds = 1e9;

struct Amount {
    std::int64_t digits = 0;   // all of them, without the point
    int tens = 0;              // times ten to this
    std::string number, unit;  // as written
};

// Takes the digits at the front of the text.
std::string_view take_digits(std::string_view& text) {
    auto const end = std::ranges::find_if(text, [](char c) { return c < '0' || c > '9'; });
    auto const count = static_cast<std::size_t>(end - text.begin());
    auto const taken = text.substr(0, count);
    text.remove_prefix(count);
    return taken;
}

// The exponent at the front of the text, of one or two digits; nothing is taken where there is none.
int take_exponent(std::string_view& text) {
    if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
    auto rest = text.substr(1);
    bool const negative = !rest.empty() && rest[0] == '-';
    if (negative || (!rest.empty() && rest[0] == '+')) rest.remove_prefix(1);
    auto const digits = take_digits(rest);
    if (digits.empty() || digits.size() > 2) return 0;
    text = rest;
    int const size = std::atoi(std::string(digits).c_str());
    return negative ? -size : size;
}

// Digits, a point with digits after it, an exponent, a space, a unit: all but the first may be absent.
// No sign, no locale's comma, no "inf", "nan" or "0x".
std::optional<Amount> split(std::string const& text) {
    std::string_view rest = text;
    std::string digits(take_digits(rest));
    std::size_t const whole = digits.size();
    if (rest.size() > 1 && rest[0] == '.') {
        rest.remove_prefix(1);
        digits += take_digits(rest);
        if (digits.size() == whole) return {};
    }
    if (whole == 0 || digits.size() > max_digits) return {};
    Amount found;
    std::from_chars(digits.data(), digits.data() + digits.size(), found.digits);
    found.tens = take_exponent(rest) - static_cast<int>(digits.size() - whole);
    found.number = text.substr(0, text.size() - rest.size());
    if (rest.size() > 1 && rest[0] == ' ') rest.remove_prefix(1);
    found.unit = rest;
    return found;
}

double value_of(Amount const& amount) {
    double value = 0;
    std::from_chars(amount.number.data(), amount.number.data() + amount.number.size(), value);
    return value;
}

// Bytes of one unit; nothing where there is no such unit.
std::optional<std::int64_t> bytes_of(std::string_view unit) {
    if (unit.empty() || unit == "B") return 1;
    std::size_t const power = std::string_view("KMGT").find(unit[0] == 'k' ? 'K' : unit[0]);
    std::string_view const tail = unit.substr(1);
    if (power == std::string_view::npos || (!tail.empty() && tail != "i" && tail != "iB" && tail != "B")) return {};
    std::int64_t bytes = 1;
    for (std::size_t step = 0; step <= power; ++step) bytes *= tail == "B" ? 1000 : 1024;
    return bytes;
}

// digits * 10^tens * scale, exactly; nothing where that is no whole number, or over most_bytes.
std::optional<std::int64_t> integer_multiple(Amount const& amount, std::int64_t scale) {
    __extension__ using Wide = __int128;
    Wide value = static_cast<Wide>(amount.digits) * scale;
    for (int ten = 0; ten < amount.tens && value != 0; ++ten) {
        value *= 10;
        if (value > max_bytes) return {};
    }
    for (int ten = amount.tens; ten < 0 && value != 0; ++ten) {
        if (value % 10 != 0) return {};
        value /= 10;
    }
    if (value > max_bytes) return {};
    return static_cast<std::int64_t>(value);
}

// Long input is not repeated whole.
std::string quoted(std::string const& text) { return "'" + text.substr(0, 60) + (text.size() > 60 ? "…'" : "'"); }

}  // namespace

std::int64_t parse_bytes(std::string const& text) {
    auto const amount = split(text);
    auto const scale = amount ? bytes_of(amount->unit) : std::nullopt;
    if (!scale) throw Refusal("cannot read " + quoted(text) + " as a size; try 4096, 64KiB, 2MiB or 1GB");
    if (auto const bytes = integer_multiple(*amount, *scale)) return *bytes;
    throw Refusal("cannot read " + quoted(text) +
                  " as a size (not an integer number of bytes below 10^18); try 4096, 64KiB, 2MiB or 1GB");
}

double parse_seconds(std::string const& text) {
    static constexpr std::pair<std::string_view, double> units[] = {{"", 1},      {"s", 1},     {"ms", 1e-3},
                                                                    {"us", 1e-6}, {"µs", 1e-6}, {"μs", 1e-6},
                                                                    {"ns", 1e-9}, {"min", 60},  {"h", 3600}};
    auto const amount = split(text);
    auto const* const unit =
        std::ranges::find(units, amount ? amount->unit : "none", &std::pair<std::string_view, double>::first);
    if (unit == std::end(units))
        throw Refusal("cannot read " + quoted(text) + " as a time; try 0.5, 20ms, 3us or 2min");
    double const seconds = value_of(*amount) * unit->second;
    if (seconds <= max_seconds) return seconds;
    throw Refusal("cannot read " + quoted(text) + " as a time (over 1e9 seconds); try 0.5, 20ms, 3us or 2min");
}

double parse_real(std::string const& text) {
    auto const amount = split(text);
    if (amount && amount->number.size() == text.size()) return value_of(*amount);
    throw Refusal("cannot read " + quoted(text) + " as a non-negative number; try 0.5");
}

std::int64_t parse_integer(std::string const& text) {
    auto const amount = split(text);
    bool const plain = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (amount && plain) return amount->digits;
    throw Refusal("cannot read " + quoted(text) + " as a non-negative integer; try 1");
}

}  // namespace octant
