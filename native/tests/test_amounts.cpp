// Sizes, times and numbers mean here what they mean in Python: both read tests/data/amounts.json.
// `test_amounts --values` reads lines of "bytes 64KiB" and prints what each comes to, for a comparison of the two.
#include "octant/amounts.hpp"

#include "check.hpp"
#include "json.hpp"

#include <array>
#include <iostream>
#include <string_view>

namespace {

// What a text of one kind comes to: digits that tell every double from every other.
std::string value_of(std::string_view kind, std::string const& text) {
    auto const exactly = [](double value) {
        std::array<char, 32> digits{};
        std::snprintf(digits.data(), digits.size(), "%.17g", value);
        return std::string(digits.data());
    };
    if (kind == "bytes") return std::to_string(octant::parse_bytes(text));
    if (kind == "whole") return std::to_string(octant::parse_integer(text));
    return exactly(kind == "seconds" ? octant::parse_seconds(text) : octant::parse_real(text));
}

int print_values() {
    for (std::string line; std::getline(std::cin, line);) {
        auto const space = line.find(' ');
        try {
            std::cout << value_of(line.substr(0, space), line.substr(space + 1)) << '\n';
        } catch (octant::Refusal const&) {
            std::cout << "refused\n";
        }
    }
    return 0;
}

void shared_table(octant::Checks& checks) {
    octant::Json const table = octant::Json::parse_file("amounts.json");
    for (auto const& [kind, texts] : table.members())
        for (auto const& [text, expected] : texts.members()) {
            auto const* const form = kind == "bytes"   ? "as a size"
                                     : kind == "whole" ? "as a non-negative integer"
                                     : kind == "real"  ? "as a non-negative number"
                                                       : "as a time";
            if (expected.is_null())
                checks.refused([&] { static_cast<void>(value_of(kind, text)); }, form);
            else if (kind == "bytes" || kind == "whole")
                checks.that(value_of(kind, text) == std::to_string(expected.whole()), kind + " " + text);
            else
                checks.near(std::stod(value_of(kind, text)), expected.number(), 1e-15 * expected.number());
        }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--values") return print_values();
    octant::Checks checks;
    shared_table(checks);
    return checks.result();
}
