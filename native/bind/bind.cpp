// octant-bind: prepares this process, then becomes the program. `octant-bind [options] -- PROGRAM ARGS…`
//   --die-with-parent   end when the process that started us ends, however it ends
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

int main(int argc, char** argv) {
    int i = 1;
    for (; i < argc && std::string_view(argv[i]) != "--"; ++i) {
        if (std::string_view(argv[i]) == "--die-with-parent") {
            pid_t const parent = getppid();
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            if (getppid() != parent) return 1;  // it ended in between
            continue;
        }
        std::fprintf(stderr, "octant-bind: cannot read '%s' (no such option); try --die-with-parent -- PROGRAM\n", argv[i]);
        return 2;
    }
    if (i + 1 >= argc) {
        std::fprintf(stderr, "octant-bind: cannot start anything (no program); try octant-bind -- PROGRAM\n");
        return 2;
    }
    execvp(argv[i + 1], argv + i + 1);
    std::fprintf(stderr, "octant-bind: cannot start '%s' (%s); try its full path\n", argv[i + 1], std::strerror(errno));
    return 127;
}
