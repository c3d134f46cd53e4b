#include "octant/json_text.hpp"

#include "octant/crc.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace octant {
namespace {

constexpr std::ptrdiff_t max_digits = 32;  // of any number and its comma

// Appends `values` with commas between them, by way of a buffer that stays in the first-level cache.
template <class Number>
void append(std::string& text, std::span<Number const> values) {
    std::array<char, 4096> buffer;
    char* at = buffer.data();
    char* const end = buffer.data() + buffer.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (end - at < max_digits) {
            text.append(buffer.data(), static_cast<std::size_t>(at - buffer.data()));
            at = buffer.data();
        }
        if (i > 0) *at++ = ',';
        at = std::to_chars(at, end, values[i]).ptr;
    }
    text.append(buffer.data(), static_cast<std::size_t>(at - buffer.data()));
}

// One character of a text; control characters have an escape.
void append_escaped(std::string& text, std::string_view character) {
    static constexpr std::string_view meant = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    auto const which = meant.find(character);
    auto const code = static_cast<unsigned char>(character[0]);
    if (which != std::string_view::npos)
        (text += '\\') += letters[which];
    else if (code < 0x20)
        (text += "\\u00") += hex8(code).substr(6);
    else
        text += character;
}

}  // namespace

std::ptrdiff_t character_bytes(std::string_view text) noexcept {
    auto const within = [&](std::size_t i, unsigned low, unsigned high) {
        auto const byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
        return byte >= low && byte <= high;
    };
    if (within(0, 0, 0x7F)) return 1;
    if (!within(0, 0xC2, 0xF4)) return -1;
    auto const first = static_cast<unsigned char>(text[0]);
    std::size_t const bytes = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    unsigned const low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned const high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    for (std::size_t i = 1; i < bytes; ++i)
        if (!within(i, i == 1 ? low : 0x80, i == 1 ? high : 0xBF)) return -static_cast<std::ptrdiff_t>(i);
    return static_cast<std::ptrdiff_t>(bytes);
}

std::string indented(std::string_view json) {
    std::string text;
    std::size_t depth = 0;
    bool quoted = false;
    auto const next_line = [&](std::size_t levels) { text.append(1, '\n').append(2 * (depth = levels), ' '); };
    for (std::size_t i = 0; i < json.size(); ++i) {
        char const c = json[i];
        bool const opens = !quoted && (c == '{' || c == '['), closes = !quoted && (c == '}' || c == ']');
        if (closes && json[i - 1] != '{' && json[i - 1] != '[') next_line(depth - 1);
        text += c;
        if (quoted && c == '\\') text += json[++i];
        if (c == '"') quoted = !quoted;
        if (opens && json[i + 1] != '}' && json[i + 1] != ']') next_line(depth + 1);
        if (!quoted && c == ',') next_line(depth);
        if (!quoted && c == ':') text += ' ';
    }
    return text;
}

void JsonText::word(std::string_view text) {
    separate();
    text_ += '"';
    while (!text.empty()) {
        auto const bytes = character_bytes(text);
        auto const taken = static_cast<std::size_t>(std::abs(bytes));
        append_escaped(text_, bytes < 0 ? "\uFFFD" : text.substr(0, taken));
        text.remove_prefix(taken);
    }
    text_ += '"';
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
