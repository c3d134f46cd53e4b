#include "reaper.hpp"

#include "octant/failure.hpp"
#include "stand_in.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace octant::link {
namespace {

bool on_a_host(std::string const& process, std::string const& variable) {
    std::ifstream file("/proc/" + process + "/environ", std::ios::binary);
    std::string environment{'\0'};
    environment.append(std::istreambuf_iterator<char>(file), {});
    return environment.find(variable) != std::string::npos;
}

// Number of processes that were found.
int kill_all(std::string const& variable) {
    int killed = 0;
    DIR* const folder = opendir("/proc");
    if (folder == nullptr) return 0;
    while (dirent const* const entry = readdir(folder))
        if (int const process = std::atoi(entry->d_name); process > 0 && on_a_host(entry->d_name, variable))
            killed += kill(process, SIGKILL) == 0 ? 1 : 0;
    closedir(folder);
    return killed;
}

}  // namespace

Reaper::Reaper() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Refusal("cannot start a process (no pipe); try again with fewer open files");
    std::string const variable = std::string(1, '\0') + hosts_variable + '=' + std::to_string(getpid()) + ' ';
    child_ = fork();
    if (child_ < 0) throw Refusal("cannot start a process (fork failed); try again with fewer of them");
    alive_ = ends[1];
    if (child_ > 0) {
        close(ends[0]);
        return;
    }
    close(ends[1]);
    setsid();                                                                             // Ctrl-C is for the others
    for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(stream);  // who reads them waits for us
    char end = 0;
    while (read(ends[0], &end, 1) < 0 && errno == EINTR) {
    }
    for (int tries = 0; tries < 100 && kill_all(variable) > 0; ++tries) usleep(10'000);
    _exit(0);
}

Reaper::~Reaper() {
    close(alive_);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace octant::link
