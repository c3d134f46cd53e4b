// Replaces this process with a program; on failure returns the error and the exit status that a shell would give.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace octant::bind {

// Why a program was not started; `status` is the exit status of a shell: 126 if a file was found that cannot be
// executed, 127 if none was found (POSIX.1-2024, XCU 2.8.2).
struct StartError {
    int status;
    std::string reason;
};

// Returns only if the program cannot be started. `words` ends with a null pointer.
//
// execvp reports EACCES both for a file that cannot be executed and for a directory of PATH that cannot be searched.
// The latter says nothing about the program, so the file is looked for as bash does it: directories do not count.
inline StartError start(char* const* words) {
    execvp(words[0], words);
    int const failure = errno;
    std::string const program = words[0];
    std::string const reason = std::strerror(failure);
    char const* const path = std::getenv("PATH");
    bool const searched = path != nullptr && program.find('/') == std::string::npos;
    bool const absent = failure == ENOENT || failure == ENOTDIR;
    if (!searched || (!absent && failure != EACCES)) return {absent ? 127 : 126, reason};
    std::string closed;
    std::string_view rest = path;
    for (bool more = true; more;) {
        auto const colon = rest.find(':');
        std::string const folder = colon == 0 || rest.empty() ? "." : std::string(rest.substr(0, colon));
        struct stat found {};
        if (stat((folder + "/" + program).c_str(), &found) == 0) {
            if (!absent && !S_ISDIR(found.st_mode)) return {126, reason};
        } else if (errno == EACCES && closed.empty()) {
            closed = "; '" + folder + "' in PATH cannot be searched";
        }
        more = colon != std::string_view::npos;
        rest.remove_prefix(more ? colon + 1 : rest.size());
    }
    return {127, std::strerror(ENOENT) + closed};
}

}  // namespace octant::bind
