// Three kinds of failure: a broken precondition aborts, a refusal is an exception, a wrong result is data.
#pragma once

#include "octant/exit.hpp"

#include <cstddef>
#include <exception>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>

namespace octant {

// States the cause, then the next step: "out of memory: 34 GiB requested, 20 GiB available; reduce bytes="
class Refusal : public std::runtime_error {
  public:
    explicit Refusal(std::string const& text, Exit code = Exit::cannot_run) : std::runtime_error(text), code_(code) {}
    [[nodiscard]] Exit code() const noexcept { return code_; }

  private:
    Exit code_;
};

// Returns the Refusal that `body` throws, or nothing.
template <class Body>
[[nodiscard]] std::optional<Refusal> refusal_of(Body const& body) {
    try {
        static_cast<void>(body());
    } catch (Refusal const& refusal) {
        return refusal;
    }
    return {};
}

// Returns the reason of an exception as text.
[[nodiscard]] std::string reason_of(std::exception const& error);

// Returns what to do after a write error with this number: "free some space".
[[nodiscard]] std::string remedy_for_writing(int error);

// Throws Refusal: the MPI library of this build does not have this call.
[[nodiscard]] Refusal not_in_library(std::string const& call);

void expects(bool held, std::source_location at = std::source_location::current());

// Points at which faults end a rank: before measuring, set-up, measuring, verification.
enum class During { between, set_up, measuring, verification };

// Fault injection, compiled into test builds only: the environment variable OCTANT_FAULT names one fault, with an
// optional number behind a colon: of the rank ("throw:1"), or of the check that is to fail ("wrong:1"; "wrong" is the
// first). What ends or stops a rank (throw, lack, word, memory, hang, kill, term, interrupt) does so between set-up
// and measuring, or where it says: "kill@set-up", "kill@measuring", "kill@verification:1". In other builds there is
// never a fault, at no cost.
#ifdef OCTANT_FAULTS
inline constexpr bool faults_compiled = true;
bool fault(std::string const& name, int rank);
void inject_faults(During during, int rank);
std::optional<std::size_t> check_to_spoil();
#else
inline constexpr bool faults_compiled = false;
constexpr bool fault(char const*, int) { return false; }
constexpr void inject_faults(During, int) {}
constexpr std::optional<std::size_t> check_to_spoil() { return {}; }
#endif

}  // namespace octant
