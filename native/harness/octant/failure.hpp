// Three kinds of failure, three channels: our bug aborts, the world's refusal is an exception, a wrong answer is data.
#pragma once

#include "octant/exit.hpp"

#include <cstddef>
#include <exception>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>

namespace octant {

// "cannot X (why); try Y"
class Refusal : public std::runtime_error {
  public:
    explicit Refusal(std::string const& text, Exit code = Exit::cannot_run) : std::runtime_error(text), code_(code) {}
    [[nodiscard]] Exit code() const noexcept { return code_; }

  private:
    Exit code_;
};

// What `body` refuses; nothing where it comes to its end.
template <class Body>
[[nodiscard]] std::optional<Refusal> refusal_of(Body const& body) {
    try {
        static_cast<void>(body());
    } catch (Refusal const& refusal) {
        return refusal;
    }
    return {};
}

// Why something ended, for people: an exception's own words, or what "std::bad_alloc" means.
[[nodiscard]] std::string reason_of(std::exception const& error);

// What to do where the system refused to write to a file with this error number: "free some space".
[[nodiscard]] std::string remedy_for_writing(int error);

// A call that the MPI library lacks, which the kernel was linked without.
[[nodiscard]] Refusal not_in_library(std::string const& call);

void expects(bool held, std::source_location at = std::source_location::current());

// Where a rank can be interrupted: before measuring; when its buffers and windows are made; when steps were done, or
// their results are looked at.
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
