#include "octant/system_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace octant {

std::string file_text(std::string const& path, std::size_t most) {
    int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return "";
    std::string text;
    constexpr std::size_t piece = 4096;
    for (ssize_t got = 1; got != 0 && text.size() < most;) {
        std::size_t const had = text.size();
        text.resize(had + piece);
        got = read(file, text.data() + had, piece);
        text.resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
        if (got < 0 && errno != EINTR) break;
    }
    close(file);
    if (text.size() > most) text.resize(most);
    return text;
}

}  // namespace octant
