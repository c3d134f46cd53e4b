#include "octant/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace octant {
namespace {

constexpr std::ptrdiff_t most_digits = 32;  // of any number and its comma

// Appends `values` with commas between them, by way of a buffer that stays in the first-level cache.
template <class Number>
void append(std::string& text, std::span<Number const> values) {
    std::array<char, 4096> buffer;
    char* at = buffer.data();
    char* const end = buffer.data() + buffer.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (end - at < most_digits) {
            text.append(buffer.data(), static_cast<std::size_t>(at - buffer.data()));
            at = buffer.data();
        }
        if (i > 0) *at++ = ',';
        at = std::to_chars(at, end, values[i]).ptr;
    }
    text.append(buffer.data(), static_cast<std::size_t>(at - buffer.data()));
}

}  // namespace

void JsonText::word(std::string_view text) {
    separate();
    text_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void JsonText::whole(std::int64_t value) {
    separate();
    append(text_, std::span<std::int64_t const>(&value, 1));
}

void JsonText::number(double value) {
    separate();
    if (std::isfinite(value))
        append(text_, std::span<double const>(&value, 1));
    else
        text_ += "null";
}

void JsonText::list(std::span<std::int64_t const> values) {
    open('[');
    append(text_, values);
    close(']');
}

void JsonText::list(std::span<double const> values) {
    open('[');
    for (double const value : values) number(value);
    close(']');
}

void JsonText::list_or_one(std::span<std::int64_t const> values) {
    if (values.empty() || std::ranges::adjacent_find(values, std::ranges::not_equal_to{}) != values.end())
        list(values);
    else
        whole(values.front());
}

}  // namespace octant
