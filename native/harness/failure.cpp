#include "octant/failure.hpp"

#include "octant/mpi.hpp"

#include <cstdio>
#include <cstdlib>

namespace octant {

Refusal not_in_library(std::string const& call) {
    return Refusal("cannot call " + call +
                       " (the MPI library that this was built with lacks it); try another pattern, or another library",
                   Exit::not_supported);
}

void expects(bool held, std::source_location at) {
    if (held) return;
    std::fprintf(stderr, "%s:%u: broken precondition\n", at.file_name(), static_cast<unsigned>(at.line()));
    std::abort();
}

#ifdef OCTANT_FAULTS
bool fault(std::string const& name, int rank) {
    char const* asked = std::getenv("OCTANT_FAULT");
    if (asked == nullptr) return false;
    std::string const text = asked;
    return text == name || text == name + ":" + std::to_string(rank);
}

std::optional<std::size_t> check_to_spoil() {
    char const* asked = std::getenv("OCTANT_FAULT");
    std::string const text = asked == nullptr ? "" : asked;
    if (text == "wrong") return 0;
    if (text.starts_with("wrong:")) return static_cast<std::size_t>(std::atoi(text.c_str() + 6));
    return {};
}
#endif

}  // namespace octant
