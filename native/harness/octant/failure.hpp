// Three kinds of failure, three channels: our bug aborts, the world's refusal is an exception, a wrong answer is data.
#pragma once

#include <cstddef>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>

namespace octant {

enum class Exit : int { ok = 0, cannot_run = 1, wrong_answer = 2, wrong_word = 2, not_supported = 3 };

// "cannot X (why); try Y"
class Refusal : public std::runtime_error {
  public:
    explicit Refusal(std::string const& text, Exit code = Exit::cannot_run) : std::runtime_error(text), code_(code) {}
    [[nodiscard]] Exit code() const noexcept { return code_; }

  private:
    Exit code_;
};

// A call that the MPI library lacks, which the kernel was linked without.
[[nodiscard]] Refusal not_in_library(std::string const& call);

void expects(bool held, std::source_location at = std::source_location::current());

// Fault injection, compiled into test builds only: the environment variable OCTANT_FAULT names one fault, with an
// optional number behind a colon: of the rank ("throw:1"), or of the check that is to fail ("wrong:1"; "wrong" is the
// first). In other builds there is never a fault, at no cost.
#ifdef OCTANT_FAULTS
inline constexpr bool faults_compiled = true;
bool fault(std::string const& name, int rank);
std::optional<std::size_t> check_to_spoil();
#else
inline constexpr bool faults_compiled = false;
constexpr bool fault(char const*, int) { return false; }
constexpr std::optional<std::size_t> check_to_spoil() { return {}; }
#endif

}  // namespace octant
