#include "octant/knobs.hpp"

#include "octant/failure.hpp"

#include <algorithm>
#include <charconv>
#include <random>

namespace octant {
namespace {

struct Number {
    double value;
    std::string suffix;
};

Number split_number(std::string const& text) {  // from_chars: no locale ever turns the point into a comma
    double value = 0;
    auto const [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) throw Refusal("cannot read '" + text + "' as a number; try 1, 0.5 or 64KiB");
    return {value, std::string(rest, text.data() + text.size())};
}

std::string listed(std::vector<std::string> const& words) {
    std::string text;
    for (auto const& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

void check_value(Knob const& knob, std::string const& value) {
    if (knob.kind == KnobKind::word) {
        bool const known = knob.choices.empty() || std::ranges::find(knob.choices, value) != knob.choices.end();
        if (!known)
            throw Refusal("cannot set " + knob.name + "=" + value + " (no such choice); try one of " +
                          listed(knob.choices));
        return;
    }
    if (knob.kind == KnobKind::seconds) {
        static_cast<void>(parse_seconds(value));
        return;
    }
    if (knob.kind == KnobKind::real) {
        static_cast<void>(parse_real(value));
        return;
    }
    std::int64_t const number = knob.kind == KnobKind::bytes ? parse_bytes(value) : parse_integer(value);
    if (number < knob.least || number > knob.most)
        throw Refusal("cannot set " + knob.name + "=" + value + " (outside " + std::to_string(knob.least) + " … " +
                      (knob.most == INT64_MAX ? "any" : std::to_string(knob.most)) + "); try " + knob.name + "=" +
                      knob.initial);
}

}  // namespace

std::int64_t parse_bytes(std::string const& text) {
    auto const [value, suffix] = split_number(text);
    static constexpr std::pair<char const*, double> units[] = {
        {"", 1},           {"B", 1},           {"K", 1024.},         {"KiB", 1024.}, {"M", 1048576.},
        {"MiB", 1048576.}, {"G", 1073741824.}, {"GiB", 1073741824.}, {"T", 0x1p40},  {"TiB", 0x1p40},
        {"kB", 1e3},       {"MB", 1e6},        {"GB", 1e9},          {"TB", 1e12}};
    for (auto const& [name, scale] : units)
        if (suffix == name && value >= 0 && value * scale < 9e18) return static_cast<std::int64_t>(value * scale);
    throw Refusal("cannot read '" + text + "' as a size; try 4096, 64KiB, 2MiB or 1GB");
}

double parse_seconds(std::string const& text) {
    auto const [value, suffix] = split_number(text);
    static constexpr std::pair<char const*, double> units[] = {
        {"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    for (auto const& [name, scale] : units)
        if (suffix == name && value >= 0) return value * scale;
    throw Refusal("cannot read '" + text + "' as a time; try 0.5, 20ms or 3us");
}

double parse_real(std::string const& text) {
    auto const [value, suffix] = split_number(text);
    if (suffix.empty() && value >= 0) return value;
    throw Refusal("cannot read '" + text + "' as a number from 0 up; try 0.5");
}

std::int64_t parse_integer(std::string const& text) {
    std::int64_t value = 0;
    auto const [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || rest != text.data() + text.size())
        throw Refusal("cannot read '" + text + "' as a whole number; try 1");
    return value;
}

Knobs::Knobs(std::vector<Knob> declared) : declared_(std::move(declared)) {
    for (auto const& knob : declared_) {
        check_value(knob, knob.initial);
        expects(
            values_.emplace(knob.name, knob.initial).second);  // a kernel's knob must not have a harness knob's name
    }
}

Knob const& Knobs::find(std::string const& name) const {
    for (auto const& knob : declared_)
        if (knob.name == name) return knob;
    std::vector<std::string> names;
    for (auto const& knob : declared_) names.push_back(knob.name);
    throw Refusal("cannot set '" + name + "' (no such knob); this kernel has " + listed(names));
}

void Knobs::set(std::string const& name, std::string const& value) {
    check_value(find(name), value);
    values_[name] = value;
}

std::string const& Knobs::value(std::string const& name, bool kind_fits) const {
    expects(kind_fits);
    return values_.at(name);
}

std::int64_t Knobs::integer(std::string const& name) const {
    auto const kind = find(name).kind;
    std::string const& text = value(name, kind == KnobKind::integer || kind == KnobKind::bytes);
    return kind == KnobKind::bytes ? parse_bytes(text) : parse_integer(text);
}

double Knobs::real(std::string const& name) const {
    auto const kind = find(name).kind;
    std::string const& text = value(name, kind == KnobKind::seconds || kind == KnobKind::real);
    return kind == KnobKind::seconds ? parse_seconds(text) : parse_real(text);
}

std::string const& Knobs::word(std::string const& name) const { return value(name, find(name).kind == KnobKind::word); }

std::vector<Knobs> points(std::vector<Knob> const& declared, std::span<std::string const> words) {
    std::vector<Knobs> found{Knobs(declared)};
    std::vector<std::string> seen;
    for (auto const& word : words) {
        auto const equals = word.find('=');
        if (equals == std::string::npos)
            throw Refusal("cannot read '" + word + "' (not of the form knob=value); try --describe for the knobs");
        std::string const name = word.substr(0, equals);
        if (std::ranges::find(seen, name) != seen.end())
            throw Refusal("cannot set " + name + " twice; give several values as " + name + "=a,b");
        seen.push_back(name);
        std::vector<std::string> values;
        for (std::size_t from = equals + 1, to = 0; to != std::string::npos; from = to + 1) {
            to = word.find(',', from);
            values.push_back(word.substr(from, to == std::string::npos ? to : to - from));
        }
        std::vector<Knobs> next;
        for (auto const& point : found)
            for (auto const& value : values) {
                next.push_back(point);
                next.back().set(name, value);
            }
        found = std::move(next);
    }
    return found;
}

// Not std::shuffle, which each library does in its own way.
void shuffle(std::vector<Knobs>& points, std::uint64_t seed) {
    std::mt19937_64 draw(seed);
    for (std::size_t left = points.size(); left > 1; --left) std::swap(points[left - 1], points[draw() % left]);
}

}  // namespace octant
