// octant-bind accepts a memory policy that reads back as it was set, in the words of every kernel, and refuses others.
#include "../bind/prepare.hpp"

#include "check.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>

#include <array>
#include <cstdarg>
#include <string>

namespace {

// What get_mempolicy(2) reports: another kernel than the one that runs the test.
int reported_mode = 0;
unsigned long reported_nodes = 0;

long real_call(long number, std::array<long, 6> const& words) {
    using Call = long (*)(long, long, long, long, long, long, long);
    static auto const call = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "syscall"));
    return call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // namespace

extern "C" long syscall(long number, ...) noexcept {
    std::va_list rest;
    va_start(rest, number);
    std::array<long, 6> words{};
    for (auto& word : words) word = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_set_mempolicy) return 0;
    if (number != SYS_get_mempolicy) return real_call(number, words);
    *reinterpret_cast<int*>(words[0]) = reported_mode;
    *reinterpret_cast<unsigned long*>(words[1]) = reported_nodes;
    return 0;
}

namespace {

using namespace octant::bind;

// "" where the policy is accepted, else the refusal.
std::string answer(Memory const& memory, int mode, unsigned long nodes) {
    reported_mode = mode;
    reported_nodes = nodes;
    try {
        bind_memory(memory);
        return "";
    } catch (Refusal const& refusal) {
        return refusal.what();
    }
}

}  // namespace

int main() {
    octant::Checks checks;
    Memory const local{mode_local, {}, "local"}, preferred{mode_preferred, {0}, "preferred:0"},
        bound{mode_bind, {0, 2}, "bind:0,2"};
    checks.that(answer(local, mode_local, 0).empty(), "local, as Linux 5.14 and later report it");
    checks.that(answer(local, mode_preferred, 0).empty(), "local, as earlier kernels report it");
    checks.that(answer(local, mode_preferred, 1).find("nodes given: 0") != std::string::npos, "a preferred node");
    checks.that(!answer(local, mode_default, 0).empty(), "no policy at all");
    checks.that(answer(preferred, mode_preferred, 1).empty(), "the preferred node");
    checks.that(!answer(preferred, mode_preferred, 0).empty(), "preferred without its node");
    checks.that(answer(bound, mode_bind, 5).empty(), "both nodes");
    checks.that(answer(bound, mode_bind, 1).find("nodes given: 0") != std::string::npos, "one of two nodes");
    return checks.result();
}
