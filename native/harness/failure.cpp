#include "octant/failure.hpp"

#include "octant/mpi.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace octant {

Refusal not_in_library(std::string const& call) {
    return Refusal("cannot call " + call +
                       " (not available in the MPI library of this build); try another pattern, or another library",
                   Exit::not_supported);
}

std::string reason_of(std::exception const& error) {
    if (dynamic_cast<std::bad_alloc const*>(&error) == nullptr) return error.what();
    return "out of memory; reduce the size or the number of ranks";
}

std::string remedy_for_writing(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return "free some space";
        case EFBIG:
            return "raise the limit on the size of files (ulimit -f)";
        case EMFILE:
        case ENFILE:
            return "raise the limit on open files (ulimit -n)";
        case ENOENT:
        case ENOTDIR:
        case ESTALE:
        case ELOOP:
            return "leave the file and its folder in place";
        case EACCES:
        case EPERM:
        case EROFS:
            return "allow this user to write there";
        default:
            return "check the file system";
    }
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

void inject_faults(During during, int rank) {
    static constexpr char const* places[] = {"", "@set-up", "@measuring", "@verification"};
    auto const asked = [&](char const* name) {
        return fault(std::string(name) + places[static_cast<std::size_t>(during)], rank);
    };
    if (asked("throw")) throw Refusal("cannot continue (fault 'throw' was injected); unset OCTANT_FAULT");
    if (asked("lack"))
        throw Refusal("cannot continue here (fault 'lack' was injected); unset OCTANT_FAULT", Exit::not_supported);
    if (asked("word"))
        throw Refusal("cannot use such a word (fault 'word' was injected); unset OCTANT_FAULT", Exit::wrong_word);
    if (asked("memory")) throw std::bad_alloc();
    if (asked("hang"))
        while (true) pause();
    if (asked("kill")) std::raise(SIGKILL);
    if (asked("term")) std::raise(SIGTERM);
    if (asked("interrupt")) std::raise(SIGINT);
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
