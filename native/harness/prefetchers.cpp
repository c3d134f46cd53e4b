#include "octant/prefetchers.hpp"

#include "octant/clock.hpp"
#include "octant/failure.hpp"
#include "octant/vector.hpp"

#include <fcntl.h>
#include <omp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace octant {
namespace {

// Intel, "Disclosure of Hardware Prefetcher Control on Some Intel Processors": streams and neighbours into L2, streams
// and strides into L1. AMD, Processor Programming Reference: L1 streams, strides and regions, L2 streams, up and down.
constexpr PrefetchRegister intel{0x1A4, 0b1111}, amd{0xC0000108, 0b101111};
constexpr unsigned long power_off = 1, power_default = 0;  // the depth of a stream, in DSCR's last three bits
constexpr unsigned long power_depth = 0b111;
constexpr double effect = 1.3;

constexpr std::size_t line_bytes = 64, lines = std::size_t{1} << 16;
struct alignas(line_bytes) Line {
    Line* next = nullptr;
};

Refusal no_register(std::string const& why) {
    return Refusal("cannot switch the hardware prefetchers (" + why + "); try hwprefetch=keep", Exit::not_supported);
}

double ascending_read_s(std::vector<Line>& buffer) {
    double min_s = 1e9;
    for (int trial = 0; trial < 3; ++trial) {
        for (Line const& one : buffer) flush_line(&one);
        drain_stores();
        std::int64_t const begin = now_ns();
        Line* at = buffer.data();
        for (std::size_t i = 0; i < lines; ++i) at = at->next;
        asm volatile("" : : "r"(at) : "memory");
        min_s = std::min(min_s, static_cast<double>(now_ns() - begin) * 1e-9);
    }
    return min_s;
}

// In the watcher, a copy of a process with threads: system calls alone.
[[noreturn]] void restore_on_exit(int socket, std::uint32_t number, int const* files, std::uint64_t const* values,
                                  std::size_t count) {
    setsid();  // not of the group that a launcher ends
    prctl(PR_SET_NAME, "octant-restore");
    char byte = 0;
    if (send(socket, &byte, 1, MSG_NOSIGNAL) != 1) _exit(1);  // ready; nothing is switched before
    while (read(socket, &byte, 1) > 0 || errno == EINTR) errno = 0;
    int failed = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (pwrite(files[i], &values[i], sizeof values[i], number) != static_cast<ssize_t>(sizeof values[i]))
            failed = 1;
    _exit(failed);
}

// Who ends what a launch left behind looks for the mark in the environment; the watcher ends by itself.
void clear_process_tag() {
    constexpr char const* name = "OCTANT_MARK";
    if (char* const value = std::getenv(name)) std::memset(value - std::strlen(name) - 1, '_', std::strlen(name));
}

}  // namespace

std::optional<PrefetchRegister> prefetch_register(std::string const& vendor, unsigned family,
                                                  bool amd_control) noexcept {
    if (vendor == "GenuineIntel" && family == 6) return intel;
    if (vendor == "AuthenticAMD" && amd_control) return amd;
    return std::nullopt;
}

std::optional<PrefetchRegister> prefetch_register() {
    Cpuid const first = cpuid(0), model = cpuid(1);
    std::array<unsigned, 3> const words{first.b, first.d, first.c};
    std::string vendor(12, '\0');
    std::memcpy(vendor.data(), words.data(), vendor.size());
    unsigned const family = (model.a >> 8 & 0xF) + ((model.a >> 8 & 0xF) == 0xF ? model.a >> 20 & 0xFF : 0);
    bool const amd_control = cpuid(0x80000000).a >= 0x80000021 && (cpuid(0x80000021).a >> 13 & 1) != 0;
    return prefetch_register(vendor, family, amd_control);
}

PrefetchRegisters::PrefetchRegisters(std::vector<int> const& cpus, PrefetchRegister which, std::string const& folder)
    : which_(which) {
    try {
        lock(folder);
        for (int const cpu : cpus) {
            std::string const path = folder + "/" + std::to_string(cpu) + "/msr";
            int const file = open(path.c_str(), O_RDWR | O_CLOEXEC);
            if (file < 0)
                throw no_register(path + ": " + std::strerror(errno) +
                                  (errno == ENOENT ? " (usual in a guest, or without the kernel module msr)" : ""));
            files_.push_back({cpu, file, 0});
            if (pread(file, &files_.back().before, sizeof(std::uint64_t), which.number) != sizeof(std::uint64_t))
                throw no_register(path + " cannot be read: " + std::strerror(errno));
        }
        watch();
    } catch (...) {
        close_files();
        throw;
    }
}

void PrefetchRegisters::lock(std::string const& folder) {
    lock_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) != 0)
        throw no_register(folder + " is in use by another run of Octant");
}

void PrefetchRegisters::watch() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw no_register(std::string("no socket: ") + std::strerror(errno));
    std::vector<int> descriptors;
    std::vector<std::uint64_t> values;
    for (File const& file : files_) descriptors.push_back(file.descriptor), values.push_back(file.before);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watcher_ = fork();
    if (watcher_ == 0) {
        clear_process_tag();
        // Closes all other inherited files: pipes of the launcher, sockets of the MPI library.
        for (int file = 0; file < 1 << 16; ++file)
            if (file != ends[0] && file != lock_ && std::ranges::find(descriptors, file) == descriptors.end())
                close(file);
        restore_on_exit(ends[0], which_.number, descriptors.data(), values.data(), values.size());
    }
    std::string why = watcher_ < 0 ? std::strerror(errno) : "the process ended immediately";
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    close(ends[0]);
    socket_ = ends[1];
    char byte = 0;
    ssize_t got = 0;
    while (watcher_ > 0 && (got = read(socket_, &byte, 1)) < 0 && errno == EINTR) {
    }
    if (got == 1) return;
    close(socket_);
    if (watcher_ > 0) waitpid(watcher_, nullptr, 0);
    throw no_register("no process to restore them: " + why);
}

void PrefetchRegisters::close_files() noexcept {
    for (File const& file : files_) close(file.descriptor);
    if (lock_ >= 0) close(lock_);
}

PrefetchRegisters::~PrefetchRegisters() {
    close(socket_);
    int status = 0;
    while (waitpid(watcher_, &status, 0) < 0 && errno == EINTR) {
    }
    bool right = true;
    for (File const& file : files_) {
        std::uint64_t now = ~file.before;
        if (status != 0) static_cast<void>(pwrite(file.descriptor, &file.before, sizeof now, which_.number));
        right = pread(file.descriptor, &now, sizeof now, which_.number) == sizeof now && now == file.before && right;
    }
    if (!right)
        std::fprintf(stderr, "cannot restore the hardware prefetchers (register 0x%x differs); restart the machine\n",
                     which_.number);
    close_files();
}

void PrefetchRegisters::write(bool on) {
    for (File const& file : files_) {
        std::uint64_t const wanted = which_.switched(file.before, on);
        std::uint64_t found = ~wanted;
        if (pwrite(file.descriptor, &wanted, sizeof wanted, which_.number) != sizeof wanted)
            throw no_register("their register is not writable: " + std::string(std::strerror(errno)));
        if (pread(file.descriptor, &found, sizeof found, which_.number) != sizeof found || found != wanted)
            throw no_register("their register of hardware thread " + std::to_string(file.cpu) +
                              " does not retain written values");
    }
}

double slowdown_without_prefetch(std::function<void(bool on)> const& set) {
    std::vector<Line> buffer(lines);
    for (std::size_t i = 0; i < lines; ++i) buffer[i].next = &buffer[(i + 1) % lines];
    set(true);
    double const with_s = ascending_read_s(buffer);
    set(false);
    return ascending_read_s(buffer) / with_s;
}

void expect_effect(double slower) {
    if (slower >= effect) return;
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%.2f", slower);
    throw no_register("accepted but without effect: an ascending read without them takes " + std::string(text.data()) +
                      " times as long (the hypervisor may ignore writes)");
}

StreamControls::StreamControls(int threads) : before_(static_cast<std::size_t>(threads)) {
#pragma omp parallel num_threads(threads)
    before_[static_cast<std::size_t>(omp_get_thread_num())] = stream_control();
}

StreamControls::~StreamControls() {
#pragma omp parallel num_threads(static_cast<int>(before_.size()))
    set_stream_control(before_[static_cast<std::size_t>(omp_get_thread_num())]);
}

void StreamControls::write(bool on) {
#pragma omp parallel num_threads(static_cast<int>(before_.size()))
    set_stream_control((stream_control() & ~power_depth) | (on ? power_default : power_off));
}

PrefetcherSwitch::PrefetcherSwitch(std::string const& word, std::vector<int> const& cpus, int threads) {
    if (word == "keep") return;
    bool const on = word == "on";
    if (has_stream_control) {
        controls_ = std::make_unique<StreamControls>(threads);
        expect_effect(slowdown_without_prefetch([&](bool wanted) { controls_->write(wanted); }));
        controls_->write(on);
        text_ = word + ", DSCR";
        return;
    }
    auto const which = prefetch_register();
    if (!which) throw no_register("neither Intel's nor AMD's register is available (a hypervisor may hide it)");
    if (!cpus.empty()) {
        registers_ = std::make_unique<PrefetchRegisters>(cpus, *which);
        expect_effect(slowdown_without_prefetch([&](bool wanted) { registers_->write(wanted); }));
        registers_->write(on);
    }
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "0x%x", which->number);
    text_ = word + ", register " + number.data();
}

}  // namespace octant
