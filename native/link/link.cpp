// octant-link: starts a program on hosts that are joined by a link of known rate and delay, all on this machine.
//
//   octant-link --bits-per-s R [--hosts N] [--delay-ns D] [--report FILE] -- PROGRAM ARGS…
//
// Each host is a network namespace with a name of its own (host1, host2, …) and an address that this name leads to.
// A token bucket (tbf) at each end of a pair of virtual devices (veth) gives the rate; where a delay is asked, two tun
// devices and a relay in user space give both. PROGRAM, a launcher, starts on host1; its ssh is octant-link again,
// which finds OCTANT_LINK_HOSTS in its environment: it moves into the host that is named and becomes what is to run
// there. Without a PROGRAM it makes the network and ends.
//
// Needs the right to make namespaces: root's, or any user's where user namespaces are allowed. Nothing has a name in
// the system, so all of it goes with the last process inside.
//
// Exit: that of PROGRAM; 1, 2 or 3 as any refusal of Octant.
#include "network.hpp"
#include "octant/failure.hpp"
#include "reaper.hpp"
#include "relay.hpp"
#include "stand_in.hpp"
#include "words.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <numeric>
#include <optional>

using namespace octant;
using namespace octant::link;

namespace {

// Makes the capabilities ambient: otherwise execve() drops those of a process that is not root.
void keep_capabilities() {
    constexpr std::array kept{CAP_SYS_ADMIN, CAP_SYS_CHROOT, CAP_SYS_PTRACE};
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> sets{};
    if (syscall(SYS_capget, &head, sets.data()) != 0) return;
    for (auto const right : kept)
        sets[CAP_TO_INDEX(right)].inheritable |= CAP_TO_MASK(right) & sets[CAP_TO_INDEX(right)].permitted;
    if (syscall(SYS_capset, &head, sets.data()) != 0) return;
    for (auto const right : kept) prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, static_cast<unsigned long>(right), 0, 0);
}

[[noreturn]] void start(Plan const& plan, pid_t owner) {
    try {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != owner) throw Refusal("cannot continue (octant-link has ended)");
        enter(owner, 0, plan.hosts);
        keep_capabilities();
        setenv(hosts_variable, (std::to_string(owner) + " " + std::to_string(plan.hosts)).c_str(), 1);
        become(plan.program.data());
    } catch (Refusal const& refusal) {
        std::fprintf(stderr, "octant-link: %s\n", refusal.what());
        _exit(static_cast<int>(refusal.code()));
    }
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

void write_delays(std::ofstream& file, Delays delays) {
    std::ranges::sort(delays.ns);
    auto const count = delays.ns.size();
    file << R"(,"real_time":)" << (delays.real_time ? "true" : "false") << R"(,"dropped":)" << delays.dropped
         << R"(,"delayed":)" << count;
    if (count == 0) return;
    auto const at = [&](double share) {
        return delays.ns[static_cast<std::size_t>(share * static_cast<double>(count - 1))];
    };
    double const sum = std::accumulate(delays.ns.begin(), delays.ns.end(), 0.0);
    file << R"(,"delay_ns":{"least":)" << at(0) << R"(,"tenth":)" << at(0.1) << R"(,"median":)" << at(0.5)
         << R"(,"ninetieth":)" << at(0.9) << R"(,"greatest":)" << at(1) << R"(,"mean":)"
         << static_cast<std::int64_t>(sum / static_cast<double>(count)) << '}';
}

void write_report(std::string const& path, std::vector<Crossed> const& crossed, std::optional<Delays> delays) {
    std::ofstream file(path);
    file << R"({"sent":[)";
    for (std::size_t host = 0; host < crossed.size(); ++host)
        file << (host == 0 ? "" : ",") << R"({"bytes":)" << crossed[host].bytes << R"(,"packets":)"
             << crossed[host].packets << '}';
    file << ']';
    if (delays) write_delays(file, std::move(*delays));
    file << "}\n";
}

int execute_run(Plan const& plan) {
    Reaper const reaper;  // before the network, which it would keep, and before the relay's thread
    Network const network(plan);
    std::optional<Relay> relay;
    if (plan.delay_ns != 0) relay.emplace(network.relayed(), plan.bits_per_s, plan.delay_ns);
    network.wait_until_connected();
    if (plan.program.empty()) return 0;
    pid_t const owner = getpid(), child = fork();
    if (child == 0) start(plan, owner);
    if (child < 0) throw Refusal("cannot start a process (fork failed); try again with fewer of them");
    int const status = wait_for(child);
    std::optional<Delays> delays;
    if (relay) delays = relay->stop();
    if (!plan.report.empty()) write_report(plan.report, network.crossed(), std::move(delays));
    if (WIFSIGNALED(status)) raise(WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(Exit::cannot_run);
}

}  // namespace

int main(int argc, char** argv) {
    auto const words = std::span(argv, static_cast<std::size_t>(argc)).subspan(1);
    try {
        if (char const* where = std::getenv(hosts_variable)) run_as_ssh(where, words);
        return execute_run(parse(words));
    } catch (Refusal const& refusal) {
        std::fprintf(stderr, "octant-link: %s\n", refusal.what());
        return static_cast<int>(refusal.code());
    } catch (std::exception const& error) {
        std::fprintf(stderr, "octant-link: cannot continue (%s)\n", error.what());
        return static_cast<int>(Exit::cannot_run);
    }
}
