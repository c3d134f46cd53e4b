// Sequential JSON writer; numbers by std::to_chars.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace octant {

// Length of the UTF-8 character that `text` begins with (Unicode 15, table 3-7). Negative: so many bytes are part of no
// character, and are replaced together. `text` is not empty.
[[nodiscard]] std::ptrdiff_t character_bytes(std::string_view text) noexcept;

// JSON without spaces as people read it: each member and item on a line of its own, two spaces for each level.
[[nodiscard]] std::string indented(std::string_view json);

class JsonText {
  public:
    void open(char bracket) {
        separate();
        text_ += bracket;
    }
    void close(char bracket) { text_ += bracket; }
    JsonText& key(std::string_view name) {
        word(name);
        text_ += ':';
        return *this;
    }
    void word(std::string_view text);  // quoted; invalid UTF-8 becomes �
    template <class Number>
        requires std::is_integral_v<Number> && (!std::is_same_v<Number, bool>)
    void number(Number value) {
        whole(static_cast<std::int64_t>(value));
    }
    void number(double value);  // shortest text that reads back the same; null if not finite
    void boolean(bool value) { raw(value ? "true" : "false"); }
    void raw(std::string_view json) {  // JSON text: a value, or values separated by commas
        if (json.empty()) return;
        separate();
        text_ += json;
    }
    void list(std::span<std::int64_t const> values);
    void list(std::span<double const> values);
    // As list(), or as one number where all values are equal.
    void list_or_one(std::span<std::int64_t const> values);

    void reserve(std::size_t more) { text_.reserve(text_.size() + more); }
    [[nodiscard]] std::string const& text() const noexcept { return text_; }
    [[nodiscard]] std::string take() noexcept { return std::move(text_); }

  private:
    void whole(std::int64_t value);
    void separate() {
        if (!text_.empty() && text_.back() != '{' && text_.back() != '[' && text_.back() != ':') text_ += ',';
    }
    std::string text_;
};

}  // namespace octant
