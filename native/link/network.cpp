#include "network.hpp"

#include "netlink.hpp"
#include "octant/failure.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace octant::link {
namespace {

constexpr std::array<char const*, 3> kinds{"net", "uts", "mnt"};  // the last changes what a path means
constexpr int first_file = 200;                                   // of the namespaces, as others find them in /proc
constexpr std::uint32_t network_address = 0x0A4D0000;             // 10.77.0.0
constexpr unsigned network_bits = 24;
constexpr std::uint16_t port = 7700;

std::string current_folder() {
    std::error_code error;
    auto const path = std::filesystem::current_path(error);
    return error ? "/" : path.string();
}

[[noreturn]] void refuse(std::string const& what, int reason, std::string const& hint) {
    throw Refusal("cannot emulate a link (" + what + ": " + std::strerror(reason) + "); try " + hint,
                  Exit::not_supported);
}

std::uint32_t address_of(std::size_t host) { return network_address + static_cast<std::uint32_t>(host) + 1; }

int namespace_file(std::size_t host, std::size_t kind) {
    return first_file + static_cast<int>(host * kinds.size() + kind);
}

void write_file(char const* path, std::string const& text) {
    std::ofstream file(path);
    file << text << std::flush;
    if (!file) refuse(std::string("no ") + path, errno, "a machine that permits user namespaces, or root");
}

// Obtains the capability to create networks: as root, or in a user namespace with an unchanged user ID.
void gain_capability() {
    if (unshare(CLONE_NEWNET) == 0) return;
    auto const user = std::to_string(geteuid()), group = std::to_string(getegid());
    int signal_of_parent = 0;
    prctl(PR_GET_PDEATHSIG, &signal_of_parent);
    if (unshare(CLONE_NEWUSER) != 0)
        refuse("no namespaces available", errno,
               "sysctl user.max_user_namespaces, a container that allows them, or root");
    prctl(PR_SET_PDEATHSIG, signal_of_parent);  // it is cleared with new capabilities
    prctl(PR_SET_DUMPABLE, 1);                  // otherwise the starters of other hosts cannot open /proc/PID
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", user + " " + user + " 1");
    write_file("/proc/self/gid_map", group + " " + group + " 1");
    if (unshare(CLONE_NEWNET) != 0)
        refuse("no network namespace", errno, "a machine that permits user namespaces, or root");
}

void move_to(int file, int kind) {
    if (setns(file, kind) != 0) refuse("cannot enter a host", errno, "a machine that permits user namespaces, or root");
}

// Libraries look for network devices in /sys, which shows those of the namespace that mounted it. Where it may not be
// mounted again, they see the devices of the machine: most ask the kernel instead.
void mount_devices() {
    constexpr unsigned clone_tree = 1, close_on_exec = O_CLOEXEC, recursive = 0x8000, empty_path = 4;
    auto const groups =
        static_cast<int>(syscall(SYS_open_tree, AT_FDCWD, "/sys/fs/cgroup", clone_tree | close_on_exec | recursive));
    bool const mounted = mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
    if (mounted && groups >= 0) syscall(SYS_move_mount, groups, "", AT_FDCWD, "/sys/fs/cgroup", empty_path);
    if (groups >= 0) close(groups);
}

// Mounts /etc/hosts from a private file system of the host, which disappears with the host's namespace.
void mount_names(std::size_t hosts) {
    constexpr char const* place = "/tmp";  // for a moment
    std::string const path = std::string(place) + "/hosts";
    std::string text = "127.0.0.1 localhost\n";
    for (std::size_t host = 0; host < hosts; ++host) {
        in_addr const address{htonl(address_of(host))};
        text += std::string(inet_ntoa(address)) + " " + host_name(host) + "\n";
    }
    if (mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755,size=64k") != 0)
        refuse("no separate file system for a host", errno, "a machine that permits user namespaces, or root");
    int const file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    bool const made = file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                      fchmod(file, 0644) == 0 && mount(path.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0 &&
                      umount2(place, MNT_DETACH) == 0;
    int const reason = errno;
    if (file >= 0) close(file);
    if (!made) refuse("cannot write the hosts file", reason, "a machine that permits user namespaces, or root");
}

void keep_namespaces(std::size_t host) {
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        int const file = open((std::string("/proc/self/ns/") + kinds[kind]).c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0 || dup3(file, namespace_file(host, kind), O_CLOEXEC) < 0)
            refuse("cannot open a namespace", errno, "ulimit -n 1024");
        close(file);
    }
}

int open_relayed() {
    int const file = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ifreq request{};
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    std::strncpy(request.ifr_name, device, sizeof request.ifr_name - 1);
    if (file < 0 || ioctl(file, TUNSETIFF, &request) != 0)
        refuse("no delay without /dev/net/tun", errno, "a link without delay, or root");
    return file;
}

// Whether the kernel says of the device that it is running, which it says up to a second after packets pass, and
// without which UCX does not take it.
bool runs() {
    int const file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::strncpy(request.ifr_name, device, sizeof request.ifr_name - 1);
    bool const running = ioctl(file, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING) != 0;
    close(file);
    return running;
}

bool connects(std::uint32_t address) {
    int const file = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(address);
    bool connected = connect(file, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    pollfd one{file, POLLOUT, 0};
    if (!connected && errno == EINPROGRESS && poll(&one, 1, 1000) == 1) {
        int failed = 0;
        socklen_t size = sizeof failed;
        connected = getsockopt(file, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 && failed == 0;
    }
    close(file);
    return connected;
}

template <typename Condition>
void wait_until(Condition const& holds, std::string const& otherwise) {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end)
            refuse(otherwise, ETIMEDOUT, "a machine without a filter of packets");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

int listening(std::uint32_t address) {
    int const file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(address);
    if (file < 0 || bind(file, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 || listen(file, 8) != 0)
        refuse("no socket on the link", errno, "a kernel with IPv4");
    return file;
}

// Hardware threads of a core side by side, so that hosts share no core unless there are more hosts than cores.
std::vector<int> by_core(cpu_set_t const& allowed) {
    std::vector<std::pair<int, int>> found;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        int core = cpu;
        std::ifstream("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list") >> core;
        found.emplace_back(core, cpu);
    }
    std::ranges::sort(found);
    std::vector<int> cpus;
    for (auto const& [core, cpu] : found) cpus.push_back(cpu);
    return cpus;
}

// Both hosts would else give their first rank the same hardware thread, and the ranks would wait for each other's
// time slice.
void bind_to_share(int owner, std::size_t host, std::size_t hosts) {
    cpu_set_t allowed;
    if (sched_getaffinity(owner, sizeof allowed, &allowed) != 0) return;  // more than 1024 hardware threads
    auto const cpus = by_core(allowed);
    cpu_set_t own;
    CPU_ZERO(&own);
    if (cpus.size() < hosts) CPU_SET(cpus[host % cpus.size()], &own);
    for (std::size_t i = host * cpus.size() / hosts; cpus.size() >= hosts && i < (host + 1) * cpus.size() / hosts; ++i)
        CPU_SET(cpus[i], &own);
    sched_setaffinity(0, sizeof own, &own);
}

}  // namespace

Network::Network(Plan const& plan) : hosts_(plan.hosts) {
    gain_capability();
    make_hosts();
    if (plan.delay_ns != 0) {
        join_by_relay();
    } else if (hosts_ == 2) {
        join_by_wire(plan.bits_per_s);
    } else {
        join_by_switch(plan.bits_per_s);
    }
    for (std::size_t host = 0; host < hosts_; ++host) {
        move_to(namespace_file(host, 0), CLONE_NEWNET);
        Netlink kernel;
        kernel.raise("lo");
        kernel.add_address(device, address_of(host), network_bits);
        kernel.raise(device);
    }
}

void Network::make_hosts() {
    std::string const folder = current_folder();
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        refuse("no namespace for files", errno, "a machine that permits user namespaces, or root");
    int const base = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    for (std::size_t host = 0; host < hosts_; ++host) {
        std::string const name = host_name(host);
        if (unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS) != 0 || sethostname(name.c_str(), name.size()) != 0)
            refuse("no namespaces for a host", errno, "a machine that permits user namespaces, or root");
        mount_names(hosts_);
        mount_devices();
        keep_namespaces(host);
        move_to(base, CLONE_NEWNS);
    }
    close(base);
    if (chdir(folder.c_str()) != 0) refuse("cannot return to " + folder, errno, "another folder");
}

// Each end slows down what leaves it.
void Network::join_by_wire(std::uint64_t bits_per_s) {
    move_to(namespace_file(0, 0), CLONE_NEWNET);
    Netlink kernel;
    kernel.add_pair(device, namespace_file(1, 0));
    kernel.add_bucket(device, bits_per_s);
    move_to(namespace_file(1, 0), CLONE_NEWNET);
    Netlink().add_bucket(device, bits_per_s);
}

// In a namespace of its own: what leaves a host is slowed down there, what enters one by the port that it leaves.
void Network::join_by_switch(std::uint64_t bits_per_s) {
    if (unshare(CLONE_NEWNET) != 0) refuse("no network namespace", errno, "fewer hosts");
    switch_ = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    Netlink kernel;
    kernel.add_bridge("switch");
    for (std::size_t host = 0; host < hosts_; ++host) {
        std::string const name = "port" + std::to_string(host + 1);
        kernel.add_pair(name, namespace_file(host, 0));
        kernel.join(name, "switch");
        kernel.add_bucket(name, bits_per_s);
        kernel.raise(name);
    }
    kernel.raise("switch");
    for (std::size_t host = 0; host < hosts_; ++host) {
        move_to(namespace_file(host, 0), CLONE_NEWNET);
        Netlink().add_bucket(device, bits_per_s);
    }
}

void Network::join_by_relay() {
    for (std::size_t host = 0; host < hosts_; ++host) {
        move_to(namespace_file(host, 0), CLONE_NEWNET);
        relayed_.push_back(open_relayed());
    }
}

void Network::wait_until_connected() const {
    for (std::size_t host = 0; host < hosts_; ++host) {
        move_to(namespace_file(host, 0), CLONE_NEWNET);
        wait_until(runs, "no running device on " + host_name(host));
        if (host == 0) continue;
        int const waiting = listening(address_of(host));
        move_to(namespace_file(0, 0), CLONE_NEWNET);
        wait_until([=] { return connects(address_of(host)); }, "no connection to " + host_name(host));
        close(waiting);
    }
}

std::vector<Crossed> Network::crossed() const {
    std::vector<Crossed> found;
    for (std::size_t host = 0; host < hosts_; ++host) {
        move_to(namespace_file(host, 0), CLONE_NEWNET);
        std::ifstream devices("/proc/self/net/dev");
        Crossed one;
        for (std::string line; std::getline(devices, line);) {
            auto const colon = line.find(':');
            if (colon == std::string::npos || line.find(device) > colon) continue;
            std::istringstream numbers(line.substr(colon + 1));
            std::array<std::int64_t, 10> columns{};  // eight of what was received, then bytes and packets sent
            for (auto& column : columns) numbers >> column;
            one = {columns[8], columns[9]};
        }
        found.push_back(one);
    }
    return found;
}

void enter(int owner, std::size_t host, std::size_t hosts) {
    std::string const folder = current_folder(), files = "/proc/" + std::to_string(owner) + "/fd/";
    std::array<int, kinds.size()> opened{};
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        opened[kind] = open((files + std::to_string(namespace_file(host, kind))).c_str(), O_RDONLY | O_CLOEXEC);
        if (opened[kind] < 0) refuse("cannot enter " + host_name(host), errno, "the launch again");
    }
    bind_to_share(owner, host, hosts);
    for (int const file : opened) {
        move_to(file, 0);
        close(file);
    }
    if (chdir(folder.c_str()) != 0) refuse("cannot return to " + folder, errno, "another folder");
}

}  // namespace octant::link
