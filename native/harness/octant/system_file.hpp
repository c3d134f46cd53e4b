// Files of /proc and /sys as text. Streams would cost a small program 0.2 ms and 0.4 MB for their locales.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace octant {

// The content of a file, at most `most` bytes of it; "" where it cannot be read.
[[nodiscard]] std::string file_text(std::string const& path, std::size_t most = std::size_t{1} << 20);

// Takes the next line from `rest`, without its end; false where there is none.
[[nodiscard]] inline bool next_line(std::string_view& rest, std::string_view& line) {
    if (rest.empty()) return false;
    auto const end = rest.find('\n');
    line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return true;
}

// Takes the next word from `rest`; "" where there is none.
[[nodiscard]] inline std::string_view next_word(std::string_view& rest) {
    constexpr std::string_view blanks = " \t\n";
    auto const begin = rest.find_first_not_of(blanks);
    rest.remove_prefix(begin == std::string_view::npos ? rest.size() : begin);
    std::string_view const word = rest.substr(0, rest.find_first_of(blanks));
    rest.remove_prefix(word.size());
    return word;
}

// The number that a text begins with, after blanks.
template <class Number>
[[nodiscard]] std::optional<Number> leading_number(std::string_view text) {
    std::string_view const word = next_word(text);
    Number value{};
    if (std::from_chars(word.data(), word.data() + word.size(), value).ec != std::errc()) return std::nullopt;
    return value;
}

}  // namespace octant
