#include "words.hpp"

#include "octant/failure.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace octant::link {
namespace {

constexpr std::size_t max_hosts = 16;
constexpr std::uint64_t max_bits_per_s = 10'000'000'000;
constexpr std::int64_t longest_delay_ns = 1'000'000'000;
// The prefix that PRRTE (Open MPI) adds if the login shell is sh or ksh; emulated hosts need no profile.
constexpr std::string_view profile_begin = "( test ! -r ./.profile || . ./.profile;", profile_end = ")";

std::string without_profile(std::string const& line) {
    if (!line.starts_with(profile_begin) || !line.ends_with(profile_end)) return line;
    return line.substr(profile_begin.size(), line.size() - profile_begin.size() - profile_end.size());
}

template <typename Number>
Number number(std::string_view option, char const* text, Number least, Number most) {
    std::string_view const digits = text;
    Number value{};
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < least || value > most)
        throw Refusal("cannot read " + std::string(option) + " " + text + " (not from " + std::to_string(least) +
                          " to " + std::to_string(most) + "); use a value in this range",
                      Exit::wrong_word);
    return value;
}

bool names_variable(std::string_view text) {
    if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
    for (char const c : text)
        if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) return false;
    return true;
}

// Reads a line for a shell, character by character, into the assignments and the words of its last command.
class Reader {
  public:
    explicit Reader(std::string const& line) : line_(without_profile(line)) {}

    Command read() {
        while (at_ < line_.size()) take(line_[at_++]);
        if (quote_ != 0) refuse("an open quote");
        end_command();
        if (command_.words.empty()) refuse("no program");
        return std::move(command_);
    }

  private:
    void take(char c) {
        bool const single = quote_ == '\'', twofold = quote_ == '"';
        if ((c == '\'' && !twofold) || (c == '"' && !single)) {
            quote_ = quote_ == 0 ? c : '\0';
            started_ = true;
        } else if (single) {
            put(c);
        } else if (c == '\\' && at_ < line_.size()) {
            put_escaped(twofold);
        } else if (c == '$') {
            put_variable();
        } else if (c == '`' || (!twofold && std::string_view("&|<>()*?").find(c) != std::string_view::npos)) {
            refuse(std::string("the sign ") + c);
        } else if (!twofold && (c == ' ' || c == '\t' || c == '\n')) {
            end_word();
        } else if (!twofold && c == ';') {
            end_command();
        } else {
            put(c);
        }
    }

    void put(char c) {
        word_ += c;
        started_ = true;
    }

    // Within "…" a shell takes a backslash for itself before any other sign.
    void put_escaped(bool twofold) {
        if (twofold && std::string_view("$`\"\\\n").find(line_[at_]) == std::string_view::npos) return put('\\');
        char const escaped = line_[at_++];
        if (escaped != '\n') put(escaped);  // a line that goes on
    }

    void put_variable() {
        std::size_t end = at_;
        while (end < line_.size() && names_variable(line_.substr(at_, end + 1 - at_))) ++end;
        if (end == at_) refuse("a $ without a name");
        std::string const name = line_.substr(at_, end - at_);
        char const* value = std::getenv(name.c_str());
        for (auto const& [known, set] : command_.variables)
            if (known == name) value = set.c_str();
        word_ += value == nullptr ? "" : value;
        started_ = started_ || !word_.empty();
        at_ = end;
    }

    void end_word() {
        if (started_) words_.push_back(std::move(word_));
        word_.clear();
        started_ = false;
    }

    // Assignments stand before a program or alone; every one of them is for the program that follows.
    void end_command() {
        end_word();
        std::size_t first = 0;
        for (; first < words_.size(); ++first) {
            auto const equals = words_[first].find('=');
            if (equals == std::string::npos || !names_variable(words_[first].substr(0, equals))) break;
            command_.variables.emplace_back(words_[first].substr(0, equals), words_[first].substr(equals + 1));
        }
        words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(first));
        if (!words_.empty() && words_[0] != "export") {
            if (!command_.words.empty()) refuse("two programs");
            command_.words = words_;
        }
        words_.clear();
    }

    [[noreturn]] void refuse(std::string const& what) const {
        throw Refusal("cannot start the command that the launcher sent over the link (" + what +
                          " in: " + line_.substr(0, 200) + "); try another MPI library",
                      Exit::not_supported);
    }

    std::string line_;
    std::size_t at_ = 0;
    char quote_ = 0;
    bool started_ = false;  // a word, even if it is empty
    std::string word_;
    std::vector<std::string> words_;  // of the command that is being read
    Command command_;
};

}  // namespace

std::string host_name(std::size_t host) { return "host" + std::to_string(host + 1); }

Plan parse(std::span<char*> words) {
    Plan plan;
    std::size_t at = 0;
    auto const value = [&](std::string_view option) {
        if (++at >= words.size())
            throw Refusal("cannot read " + std::string(option) + " (value missing); add one", Exit::wrong_word);
        return words[at];
    };
    for (; at < words.size(); ++at) {
        std::string_view const word = words[at];
        if (word == "--hosts") {
            plan.hosts = number<std::size_t>(word, value(word), 2, max_hosts);
        } else if (word == "--bits-per-s") {
            plan.bits_per_s = number<std::uint64_t>(word, value(word), 8000, max_bits_per_s);
        } else if (word == "--delay-ns") {
            plan.delay_ns = number<std::int64_t>(word, value(word), 0, longest_delay_ns);
        } else if (word == "--report") {
            plan.report = value(word);
        } else if (word == "--") {
            plan.program = words.subspan(at + 1);
            break;
        } else {
            throw Refusal("cannot read '" + std::string(word) + "' (no such option); see native/link/link.cpp",
                          Exit::wrong_word);
        }
    }
    if (plan.bits_per_s == 0)
        throw Refusal("cannot emulate a link (no rate); try --bits-per-s 100000000", Exit::wrong_word);
    if (plan.delay_ns != 0 && plan.hosts != 2)
        throw Refusal("cannot emulate a link with a delay between " + std::to_string(plan.hosts) +
                          " hosts (the relay joins two); try hosts=2",
                      Exit::wrong_word);
    return plan;
}

Order parse_order(std::span<char*> words, std::size_t hosts) {
    std::size_t at = 0;
    for (; at < words.size() && words[at][0] == '-'; ++at)
        if (std::string_view const option = words[at]; option == "-o" || option == "-p" || option == "-l") ++at;
    std::string const name = at < words.size() ? words[at] : "";
    Order order;
    while (order.host < hosts && host_name(order.host) != name) ++order.host;
    if (order.host == hosts)
        throw Refusal("cannot reach '" + name + "' (an emulated link has host1 to " + host_name(hosts - 1) +
                          "); correct the arguments of the launcher",
                      Exit::wrong_word);
    for (++at; at < words.size(); ++at) order.line += std::string(order.line.empty() ? "" : " ") + words[at];
    return order;
}

Command read_line(std::string const& line) { return Reader(line).read(); }

}  // namespace octant::link
