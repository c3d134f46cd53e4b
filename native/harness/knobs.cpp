#include "octant/knobs.hpp"

#include "octant/amounts.hpp"
#include "octant/failure.hpp"

#include <algorithm>
#include <random>

namespace octant {
namespace {

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

// The values of a list. Memory nodes may be joined by ',' too, as numactl writes them: "bind:0,1" is "bind:0+1".
std::vector<std::string> values_in(std::string const& list) {
    std::vector<std::string> values;
    for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
        to = list.find(',', from);
        std::string const part = list.substr(from, to == std::string::npos ? to : to - from);
        bool const nodes =
            !values.empty() && (values.back().starts_with("bind:") || values.back().starts_with("interleave:"));
        if (nodes && !part.empty() && part.find_first_not_of("0123456789-") == std::string::npos)
            values.back() += '+' + part;
        else
            values.push_back(part);
    }
    return values;
}

}  // namespace

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
        std::vector<std::string> const values = values_in(word.substr(equals + 1));
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
