// The reader that the tests use, and the texts that the harness writes. With an argument it answers lines of standard
// input, for a comparison with Python: `read` prints the JSON of a line again, or "refused"; `quote` takes the bytes of
// a text as hexadecimal digits and prints it as JSON.
#include "json.hpp"

#include "check.hpp"

#include <iostream>

namespace {

using octant::Json;

std::string read_again(std::string const& line) {
    try {
        octant::JsonText text;
        Json::parse(line).write(text);
        return text.take();
    } catch (octant::Refusal const&) {
        return "refused";
    }
}

std::string quote(std::string const& digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    octant::JsonText text;
    text.word(bytes);
    return text.take();
}

void limits(octant::Checks& checks) {
    auto const nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
    checks.that(Json::accepts(nested(65)), "65 lists, of which 64 are inside another");
    checks.refused([&] { static_cast<void>(Json::parse(nested(66))); }, "byte 65: nested too deeply");
    std::string const most((std::size_t{16} << 20) - 1, ' ');
    checks.that(Json::accepts(most + "0"), "16 MiB");
    checks.refused([&] { static_cast<void>(Json::parse(most + "10")); }, "larger than 16 MiB");
}

void wrong(octant::Checks& checks) {
    for (std::string const text : {"",
                                   " ",
                                   "nul",
                                   "1 2",
                                   "01",
                                   "-",
                                   "1.",
                                   ".5",
                                   "1e",
                                   "+1",
                                   "NaN",
                                   "1e999",
                                   "[1,]",
                                   "[1",
                                   "[1 2]",
                                   "{\"a\"}",
                                   "{\"a\":1,}",
                                   "{\"a\":1,\"a\":2}",
                                   "{a:1}",
                                   "\"",
                                   "\"\\x\"",
                                   "\"\\u12\"",
                                   "\"\\ud800\"",
                                   "\"\\ud800\\u0041\"",
                                   "\"\\udc00\"",
                                   "\"\n\"",
                                   "\"\xFF\"",
                                   "\"\xC0\x80\"",
                                   "\"\xED\xA0\x80\"",
                                   "\"\xF4\x90\x80\x80\"",
                                   "]",
                                   "1]"})
        checks.that(!Json::accepts(text), "no JSON: " + text);
}

void lines(octant::Checks& checks) {
    checks.that(
        octant::indented(R"({"a":[],"b":{"c":"[,:{\"","d":[1,2]}})") ==
            "{\n  \"a\": [],\n  \"b\": {\n    \"c\": \"[,:{\\\"\",\n    \"d\": [\n      1,\n      2\n    ]\n  }\n}",
        "text inside quotes is not changed");
}

}  // namespace

int main(int argc, char** argv) {
    std::string const mode = argc > 1 ? argv[1] : "";
    for (std::string line; !mode.empty() && std::getline(std::cin, line);)
        std::cout << (mode == "read" ? read_again(line) : quote(line)) << '\n';
    if (!mode.empty()) return 0;
    octant::Checks checks;
    limits(checks);
    wrong(checks);
    lines(checks);
    return checks.result();
}
