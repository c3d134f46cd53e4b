// Three kinds of failure, three channels: our bug aborts, the world's refusal is an exception, a wrong answer is data.
#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>

namespace octant {

enum class Exit : int { ok = 0, cannot_run = 1, wrong_answer = 2, not_supported = 3 };

// "cannot X (why); try Y"
class Refusal : public std::runtime_error {
  public:
    explicit Refusal(std::string const& text, Exit code = Exit::cannot_run) : std::runtime_error(text), code_(code) {}
    [[nodiscard]] Exit code() const noexcept { return code_; }

  private:
    Exit code_;
};

void expects(bool held, std::source_location at = std::source_location::current());

// The outcome of a check: `error` must not exceed `tolerance`; a NaN never passes.
struct Verdict {
    std::string check;
    double error = 0;
    double tolerance = 0;
    [[nodiscard]] bool passed() const noexcept { return error <= tolerance; }
};

// Fault injection, compiled into test builds only: the environment variable OCTANT_FAULT names one fault, with an
// optional rank behind a colon ("throw:1"). In other builds this is always false and costs nothing.
#ifdef OCTANT_FAULTS
inline constexpr bool faults_compiled = true;
bool fault(std::string const& name, int rank);
#else
inline constexpr bool faults_compiled = false;
constexpr bool fault(char const*, int) { return false; }
#endif

}  // namespace octant
