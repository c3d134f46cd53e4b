// Knobs: settings on the command line. Each is declared and parsed once; unknown names are refused.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace octant {

enum class KnobKind { integer, bytes, seconds, real, word };

struct Knob {
    std::string name;
    KnobKind kind;
    std::string initial;  // the default, as the user would write it
    std::string help;
    std::vector<std::string> choices = {};  // for words
    std::int64_t least = 0;                 // for integers and bytes
    std::int64_t most = INT64_MAX;
};

// One point: a value for every declared knob.
class Knobs {
  public:
    explicit Knobs(std::vector<Knob> declared);

    // Throws Refusal: unknown name (lists the known ones), malformed or out-of-range value.
    void set(std::string const& name, std::string const& value);

    [[nodiscard]] std::int64_t integer(std::string const& name) const;  // also bytes
    [[nodiscard]] double real(std::string const& name) const;           // also seconds
    [[nodiscard]] std::string const& word(std::string const& name) const;
    [[nodiscard]] std::vector<Knob> const& declared() const noexcept { return declared_; }
    [[nodiscard]] std::map<std::string, std::string> const& values() const noexcept { return values_; }

  private:
    [[nodiscard]] Knob const& find(std::string const& name) const;
    [[nodiscard]] std::string const& value(std::string const& name, bool kind_fits) const;
    std::vector<Knob> declared_;
    std::map<std::string, std::string> values_;
};

// Returns the points of `name=value` and `name=value,value` arguments in the order given (last name fastest).
// Throws Refusal as Knobs::set does, and for words without '=' or named twice.
[[nodiscard]] std::vector<Knobs> points(std::vector<Knob> const& declared, std::span<std::string const> words);

// Shuffles the points by the seed, with the same result on all ranks and machines.
void shuffle(std::vector<Knobs>& points, std::uint64_t seed);

}  // namespace octant
