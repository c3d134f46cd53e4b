#include "calls.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <ctime>

#include <cerrno>

namespace octant {

Calls& calls() {
    static Calls counted;
    return counted;
}

}  // namespace octant

// The declarations in headers differ between systems in their attributes; only the names are linked.
extern "C" {

__attribute__((visibility("default"))) int sched_yield() noexcept {
    ++octant::calls().yields;
    return static_cast<int>(syscall(SYS_sched_yield));
}

__attribute__((visibility("default"))) int nanosleep(timespec const* wanted, timespec* left) {
    ++octant::calls().sleeps;
    return static_cast<int>(syscall(SYS_nanosleep, wanted, left));
}

__attribute__((visibility("default"))) int clock_nanosleep(clockid_t clock, int flags, timespec const* wanted,
                                                           timespec* left) {
    ++octant::calls().sleeps;
    return syscall(SYS_clock_nanosleep, clock, flags, wanted, left) == 0 ? 0 : errno;
}

__attribute__((visibility("default"))) int usleep(useconds_t microseconds) {
    ++octant::calls().sleeps;
    timespec const wanted{static_cast<time_t>(microseconds / 1'000'000), 1000L * (microseconds % 1'000'000)};
    return static_cast<int>(syscall(SYS_nanosleep, &wanted, nullptr));
}

__attribute__((visibility("default"))) ssize_t process_vm_readv(pid_t process, iovec const* here, unsigned long parts,
                                                                iovec const* there, unsigned long theirs,
                                                                unsigned long flags) noexcept {
    ++octant::calls().copies;
    return syscall(SYS_process_vm_readv, process, here, parts, there, theirs, flags);
}

__attribute__((visibility("default"))) ssize_t process_vm_writev(pid_t process, iovec const* here, unsigned long parts,
                                                                 iovec const* there, unsigned long theirs,
                                                                 unsigned long flags) noexcept {
    ++octant::calls().copies;
    return syscall(SYS_process_vm_writev, process, here, parts, there, theirs, flags);
}
}
