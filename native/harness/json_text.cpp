#include "octant/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace octant {
namespace {

constexpr std::size_t most_digits = 32;  // of any number and its comma

// Appends `values` with commas between them: room for all is made once.
template <class Number>
void append(std::string& text, std::span<Number const> values) {
    std::size_t const before = text.size();
    text.resize(before + most_digits * values.size());
    char* at = text.data() + before;
    char* const end = text.data() + text.size();
    for (Number const value : values) {
        if (at != text.data() + before) *at++ = ',';
        at = std::to_chars(at, end, value).ptr;
    }
    text.resize(static_cast<std::size_t>(at - text.data()));
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
