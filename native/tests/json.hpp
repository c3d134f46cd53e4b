// A strict reader of JSON (RFC 8259) for the tests, since the harness writes JSON and reads none. Texts of at most
// 16 MiB and 64 levels; a name that occurs twice in an object, or text that is not UTF-8, is an error.
#pragma once

#include "octant/failure.hpp"
#include "octant/json_text.hpp"

#include <charconv>
#include <compare>
#include <concepts>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace octant {

class Json {
  public:
    using List = std::vector<Json>;
    using Members = std::vector<std::pair<std::string, Json>>;  // in the order of the text

    Json() = default;  // null
    explicit Json(auto value) : value_(std::move(value)) {}

    // Throws Refusal: no JSON, with the position; too large; nested too deeply.
    [[nodiscard]] static Json parse(std::string_view text);
    [[nodiscard]] static Json parse_file(std::string const& path) {
        std::ifstream file(path);
        return parse(std::string(std::istreambuf_iterator<char>(file), {}));
    }
    [[nodiscard]] static bool accepts(std::string_view text) {
        try {
            return static_cast<void>(parse(text)), true;
        } catch (Refusal const&) {
            return false;
        }
    }

    [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
    [[nodiscard]] bool is_list() const { return std::holds_alternative<List>(value_); }
    [[nodiscard]] List const& list() const& { return std::get<List>(value_); }
    [[nodiscard]] Members const& members() const& { return std::get<Members>(value_); }
    List const& list() const&& = delete;  // of a temporary: a loop over it would outlive it
    Members const& members() const&& = delete;
    [[nodiscard]] std::size_t size() const { return is_list() ? list().size() : members().size(); }
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] auto begin() const { return list().begin(); }
    [[nodiscard]] auto end() const { return list().end(); }
    [[nodiscard]] bool contains(std::string_view name) const { return !(*this)[name].is_null(); }
    // The member, or the item; null where there is none.
    [[nodiscard]] Json const& operator[](std::string_view name) const {
        if (auto const* members = std::get_if<Members>(&value_))
            for (auto const& [key, value] : *members)
                if (key == name) return value;
        return nothing();
    }
    [[nodiscard]] Json const& operator[](std::integral auto index) const {
        auto const* list = std::get_if<List>(&value_);
        auto const i = static_cast<std::size_t>(index);
        return list != nullptr && i < list->size() ? (*list)[i] : nothing();
    }

    [[nodiscard]] std::string_view text() const { return std::get<std::string>(value_); }
    [[nodiscard]] std::int64_t whole() const { return std::get<std::int64_t>(value_); }
    [[nodiscard]] double number() const {
        auto const* whole = std::get_if<std::int64_t>(&value_);
        return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value_);
    }
    [[nodiscard]] std::vector<std::int64_t> integers() const {
        std::vector<std::int64_t> found;
        for (Json const& one : list()) found.push_back(one.whole());
        return found;
    }

    [[nodiscard]] bool operator==(Json const& other) const = default;
    [[nodiscard]] bool operator==(std::integral auto value) const { return is_number() && number() == double(value); }
    [[nodiscard]] bool operator==(double value) const { return is_number() && number() == value; }
    [[nodiscard]] bool operator==(std::string_view text) const {
        auto const* mine = std::get_if<std::string>(&value_);
        return mine != nullptr && *mine == text;
    }
    [[nodiscard]] bool operator==(std::vector<std::int64_t> const& values) const {
        return is_list() && integers() == values;
    }
    template <class Number>
        requires std::is_arithmetic_v<Number>
    [[nodiscard]] std::partial_ordering operator<=>(Number value) const {
        return number() <=> static_cast<double>(value);
    }
    [[nodiscard]] std::partial_ordering operator<=>(Json const& other) const { return number() <=> other.number(); }

    void write(JsonText& text) const;

  private:
    [[nodiscard]] bool is_number() const {
        return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<double>(value_);
    }
    static Json const& nothing() {
        static Json const null;
        return null;
    }
    std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Members> value_;
};

class JsonReader {  // one text, from front to back
  public:
    explicit JsonReader(std::string_view text) : text_(text) {}

    Json read() {
        if (text_.size() > max_bytes) fail("larger than 16 MiB");
        Json found = value(0);
        skip_spaces();
        if (at_ < text_.size()) fail("more than one value");
        return found;
    }

  private:
    static constexpr std::size_t max_bytes = std::size_t{16} << 20;
    static constexpr int max_levels = 64;

    [[noreturn]] void fail(char const* why) const {
        throw Refusal("cannot read JSON (byte " + std::to_string(at_) + ": " + why + "); correct the text");
    }
    [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    [[nodiscard]] bool is_digit() const { return next() >= '0' && next() <= '9'; }
    void skip_spaces() {
        while (next() == ' ' || next() == '\t' || next() == '\n' || next() == '\r') ++at_;
    }
    bool take(std::string_view word) {
        bool const here = text_.substr(at_).starts_with(word);
        if (here) at_ += word.size();
        return here;
    }

    Json value(int level) {
        if (level > max_levels) fail("nested too deeply");
        skip_spaces();
        if (take("{")) return members(level);
        if (take("[")) return items(level);
        if (take("\"")) return Json(quoted());
        if (take("null")) return {};
        if (take("true")) return Json(true);
        if (take("false")) return Json(false);
        return number();
    }

    Json items(int level) {
        Json::List found;
        skip_spaces();
        if (take("]")) return Json(std::move(found));
        for (;;) {
            found.push_back(value(level + 1));
            skip_spaces();
            if (take("]")) return Json(std::move(found));
            if (!take(",")) fail("no comma or closing bracket");
        }
    }

    Json members(int level) {
        Json::Members found;
        skip_spaces();
        if (take("}")) return Json(std::move(found));
        for (;;) {
            skip_spaces();
            if (!take("\"")) fail("no name");
            std::string name = quoted();
            for (auto const& [known, value] : found)
                if (known == name) fail("a name for the second time");
            skip_spaces();
            if (!take(":")) fail("no colon");
            found.emplace_back(std::move(name), value(level + 1));
            skip_spaces();
            if (take("}")) return Json(std::move(found));
            if (!take(",")) fail("no comma or closing brace");
        }
    }

    Json number() {
        std::size_t const begin = at_;
        auto const digits = [&] {
            if (!is_digit()) fail("no value");
            while (is_digit()) ++at_;
        };
        take("-");
        if (!take("0")) digits();
        bool const fraction = take(".");
        if (fraction) digits();
        bool const exponent = take("e") || take("E");
        if (exponent) {
            if (!take("+")) take("-");
            digits();
        }
        char const *const from = text_.data() + begin, *const to = text_.data() + at_;
        std::int64_t whole = 0;
        if (!fraction && !exponent && std::from_chars(from, to, whole).ec == std::errc()) return Json(whole);
        double found = 0;
        if (std::from_chars(from, to, found).ec != std::errc()) fail("a number that no double holds");
        return Json(found);
    }

    std::string quoted() {
        std::string found;
        while (!take("\"")) {
            if (at_ >= text_.size()) fail("a text without end");
            if (take("\\")) {
                escaped(found);
                continue;
            }
            auto const bytes = character_bytes(text_.substr(at_));
            if (bytes < 0) fail("not UTF-8");
            if (static_cast<unsigned char>(next()) < 0x20) fail("a control character");
            found += text_.substr(at_, static_cast<std::size_t>(bytes));
            at_ += static_cast<std::size_t>(bytes);
        }
        return found;
    }

    void escaped(std::string& found) {
        static constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        if (take("u")) return append(found, code_point());
        auto const which = letters.find(next());
        if (at_ >= text_.size() || which == std::string_view::npos) fail("no such escape");
        found += meant[which];
        ++at_;
    }

    std::uint32_t four_digits() {
        std::uint32_t found = 0;
        char const* const from = text_.data() + at_;
        if (text_.size() - at_ < 4 || std::from_chars(from, from + 4, found, 16).ptr != from + 4) fail("no 4 digits");
        at_ += 4;
        return found;
    }

    std::uint32_t code_point() {
        std::uint32_t const first = four_digits();
        if (first < 0xD800 || first > 0xDFFF) return first;
        if (first > 0xDBFF || !take("\\u")) fail("half of a surrogate pair");
        std::uint32_t const second = four_digits();
        if (second < 0xDC00 || second > 0xDFFF) fail("half of a surrogate pair");
        return 0x10000 + ((first - 0xD800) << 10U) + (second - 0xDC00);
    }

    static void append(std::string& text, std::uint32_t point) {
        int const more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
        static constexpr std::uint32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
        text += static_cast<char>(leads[more] | point >> (6 * more));
        for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | (point >> (6 * i) & 0x3F));
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

inline Json Json::parse(std::string_view text) { return JsonReader(text).read(); }

inline void Json::write(JsonText& text) const {
    if (auto const* list = std::get_if<List>(&value_)) {
        text.open('[');
        for (Json const& one : *list) one.write(text);
        text.close(']');
    } else if (auto const* members = std::get_if<Members>(&value_)) {
        text.open('{');
        for (auto const& [name, value] : *members) value.write(text.key(name));
        text.close('}');
    } else if (auto const* words = std::get_if<std::string>(&value_)) {
        text.word(*words);
    } else if (auto const* truth = std::get_if<bool>(&value_)) {
        text.boolean(*truth);
    } else if (is_null()) {
        text.raw("null");
    } else if (auto const* whole = std::get_if<std::int64_t>(&value_)) {
        text.number(*whole);
    } else {
        text.number(number());
    }
}

}  // namespace octant
