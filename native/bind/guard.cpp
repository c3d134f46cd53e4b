#include "guard.hpp"

#include "line.hpp"
#include "lost_time.hpp"
#include "octant/clock.hpp"
#include "octant/exit.hpp"
#include "prepare.hpp"
#include "process_sampler.hpp"
#include "processes.hpp"
#include "profile.hpp"
#include "start.hpp"

#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace octant::bind {
namespace {

constexpr int cannot_run = static_cast<int>(Exit::cannot_run);
constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t grace_ns = 2 * second_ns;            // for the program after a signal that ends this process
constexpr std::int64_t descendants_end_ns = second_ns / 4;  // for helpers that end when they see the program's end
constexpr std::int64_t polite_end_ns = second_ns / 2;       // between SIGTERM and SIGKILL of what outlives the program
constexpr std::int64_t forced_end_ns =
    10 * second_ns;  // a process that waits for a disk does not end before it is there
constexpr std::int64_t longest_pause_ns = second_ns / 10;
constexpr std::size_t max_survivors = 64;  // that are named

// Seconds after the epoch, to the microsecond.
double epoch_s() {
    std::timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<double>(std::int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000) / 1e6;
}

// Signals that somebody may send to this process but mean for the program. They stay blocked and are taken by
// sigtimedwait, so that none is lost. What was ignored when this process was started stays ignored (nohup).
class Signals {
  public:
    Signals() {
        sigfillset(&taken_);
        for (int const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE})
            sigdelset(&taken_, own);
        for (int number = 1; number <= SIGRTMAX; ++number) {
            struct sigaction action {};
            if (number != SIGCHLD && sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
                sigdelset(&taken_, number);
        }
        struct sigaction usual {};
        usual.sa_handler = SIG_DFL;
        sigaction(SIGCHLD, &usual, &child_before_);  // ignored, it would have the children's statuses thrown away
        sigprocmask(SIG_BLOCK, &taken_, &mask_before_);
    }
    // In the child, before the program begins.
    void restore() const {
        sigaction(SIGCHLD, &child_before_, nullptr);
        sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    }
    // The next signal; 0: none within this time. Negative: without a limit.
    [[nodiscard]] int next(std::int64_t patience_ns, siginfo_t& info) const {
        std::timespec const time{.tv_sec = patience_ns / second_ns, .tv_nsec = patience_ns % second_ns};
        int const number = sigtimedwait(&taken_, &info, patience_ns < 0 ? nullptr : &time);
        return std::max(number, 0);
    }

  private:
    sigset_t taken_{}, mask_before_{};
    struct sigaction child_before_ {};
};

bool ends(int number) { return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT; }

// A terminal sends its signals to the whole group, in which the program is too.
bool was_sent_to_program(siginfo_t const& info, pid_t child) {
    return info.si_code == SI_KERNEL && getpgid(child) == getpgrp();
}

// Opened before the program begins: afterwards its name may lead elsewhere. -1: it cannot be opened.
int open_report(std::string const& path) {
    int const file =
        open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    struct stat found {};
    if (file < 0) return -1;
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode)) return file;
    close(file);
    errno = EINVAL;
    return -1;
}

// Closes all inherited file descriptors except these: this process must not keep pipes and sockets open whose end other
// processes wait for. Their numbers change; -1: there is no such descriptor.
void close_inherited(std::array<int*, 2> const& kept) {
    int const nothing = open("/dev/null", O_RDWR);
    for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (nothing >= 0) dup2(nothing, stream);
    constexpr int behind = 16;  // any number that is larger than those of the kept descriptors
    int first = STDERR_FILENO + 1;
    for (int* const one : kept)
        if (*one >= 0) *one = fcntl(*one, F_DUPFD_CLOEXEC, behind);
    for (int* const one : kept)
        if (*one >= 0) *one = dup3(*one, first++, O_CLOEXEC);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
    for (int const file : numbered_entries("/proc/self/fd"))
        if (file >= first) close(file);
}

struct Reason {  // why the program was not started, in memory that the child shares
    std::array<char, 512> text;
};

[[noreturn]] void become_program(Plan const& plan, Signals const& signals, pid_t guardian, Reason* reason) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guardian) _exit(cannot_run);
    signals.restore();
    StartError const failed = start(plan.program.data());  // argv ends with a null pointer, and so does its end
    std::fprintf(stderr, "octant-bind: cannot start '%s' (%s); try its full path\n", plan.program[0],
                 failed.reason.c_str());
    if (reason != nullptr) failed.reason.copy(reason->text.data(), reason->text.size() - 1);
    _exit(failed.status);
}

// The program and what it has started, from the fork to the end of the last.
class Children {
  public:
    explicit Children(Signals const& signals) : signals_(signals) {}

    void begin(Plan const& plan) {
        void* const shared = mmap(nullptr, sizeof(Reason), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        reason_ = shared == MAP_FAILED ? nullptr : static_cast<Reason*>(shared);
        pid_t const guardian = getpid();
        ended_.started_s = epoch_s();
        begin_ns_ = now_ns();
        ended_.pid = fork();
        if (ended_.pid == 0) become_program(plan, signals_, guardian, reason_);
        if (ended_.pid < 0)
            throw Refusal(
                std::string("cannot start a process (") + std::strerror(errno) + "); try again with fewer processes",
                cannot_run);
    }
    [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }

    // Waits for the end of the program. A signal that ends this process is passed on to the program, which then has
    // `grace_ns` to exit. The sampler is started when
    // its first sample is due.
    void wait_for_program(ProcessSampler& sampler) {
        bool samples = false;
        for (std::int64_t deadline = -1; !program_ended();) {
            siginfo_t info{};
            std::int64_t const now = now_ns(), due = samples ? deadline : sampler.first_sample_ns();
            int const number = signals_.next(due < 0 ? -1 : std::max<std::int64_t>(due - now, 0), info);
            if (!samples && now_ns() >= sampler.first_sample_ns()) {
                sampler.start();
                samples = true;
            }
            if (number == 0 && deadline >= 0 && now_ns() >= deadline) return kill_all();
            if (number == 0 || number == SIGCHLD) continue;
            if (!was_sent_to_program(info, ended_.pid)) kill(ended_.pid, number);
            if (!ends(number) || deadline >= 0) continue;
            ended_.stop_signal = number;
            deadline = now_ns() + grace_ns;
        }
    }

    // Ends what is left of the program's descendants.
    void end_descendants() {
        if (wait_for_all(descendants_end_ns)) return;
        for (auto const& process : descendants(getpid())) {
            if (ended_.survivors.size() < max_survivors) ended_.survivors.push_back({process.id, process.name});
            kill(process.id, SIGTERM);
        }
        if (!wait_for_all(polite_end_ns)) kill_all();
    }

    [[nodiscard]] ProgramResult result() {
        getrusage(RUSAGE_CHILDREN, &ended_.used);
        if (!program_ended_) ended_.wall_ns = now_ns() - begin_ns_;
        if (reason_ != nullptr) ended_.start_error = reason_->text.data();
        return std::move(ended_);
    }

  private:
    // Reaps whatever has ended: the program first, so that its time is right.
    bool program_ended() {
        if (!program_ended_) note(wait4(ended_.pid, &status_, WNOHANG, nullptr));
        return reap() || program_ended_;
    }

    // Waits for ended processes; returns whether no process is left.
    bool reap() {
        for (;;) {
            pid_t const pid = wait4(-1, &status_, WNOHANG | __WALL, nullptr);
            note(pid);
            if (pid < 0 && errno == ECHILD) return true;
            if (pid <= 0) return false;
        }
    }

    void note(pid_t pid) {
        if (pid != ended_.pid || program_ended_) return;
        ended_.wall_ns = now_ns() - begin_ns_;
        ended_.status = status_;
        ended_.known = program_ended_ = true;
    }

    bool wait_for_all(std::int64_t patience_ns) {
        std::int64_t const deadline = now_ns() + patience_ns;
        while (!reap()) {
            siginfo_t info{};
            std::int64_t const left = deadline - now_ns();
            if (left <= 0) return false;
            int const number = signals_.next(left, info);
            if (!ends(number) || ended_.stop_signal != 0) continue;
            ended_.stop_signal = number;
            return false;
        }
        return true;
    }

    // Repeats the search: processes may start others in the meantime.
    void kill_all() {
        std::int64_t const deadline = now_ns() + forced_end_ns;
        for (std::int64_t pause_ns = second_ns / 1000; now_ns() < deadline;
             pause_ns = std::min(2 * pause_ns, longest_pause_ns)) {
            for (auto const& process : descendants(getpid())) kill(process.id, SIGKILL);
            if (wait_for_all(pause_ns)) return;
        }
        ended_.left = descendants(getpid()).size();
    }

    Signals const& signals_;
    Reason* reason_ = nullptr;
    std::int64_t begin_ns_ = 0;
    int status_ = 0;
    bool program_ended_ = false;
    ProgramResult ended_;
};

[[noreturn]] void end_by(int number) {
    rlimit const none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);  // also where a program takes the dumps, for which the limit does not hold
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    sigaction(number, &usual, nullptr);
    sigset_t one{};
    sigemptyset(&one);
    sigaddset(&one, number);
    kill(getpid(), number);
    sigprocmask(SIG_UNBLOCK, &one, nullptr);
    _exit(128 + number);
}

[[noreturn]] void end_as(ProgramResult const& ended) {
    if (ended.stop_signal != 0) end_by(ended.stop_signal);
    if (WIFSIGNALED(ended.status)) end_by(WTERMSIG(ended.status));
    _exit(WEXITSTATUS(ended.status));
}

// Removes a folder recursively; symbolic links are not followed.
void remove_folder(std::string const& path) {
    constexpr int max_open = 32;
    auto const remove_one = [](char const* name, struct stat const*, int, FTW*) {
        static_cast<void>(remove(name));
        return 0;
    };
    nftw(path.c_str(), remove_one, max_open, FTW_DEPTH | FTW_PHYS);
}

}  // namespace

void guard(Plan const& plan) {
    int report = open_report(plan.report);
    // On another host the folder of the report need not exist: the rank's line is then missing, and it runs.
    if (report < 0 && plan.whole)
        throw Refusal("cannot write the report " + plan.report + " (" + std::strerror(errno) +
                          "); try a file in a folder that can be written",
                      cannot_run);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    Numbers const mask = allowed_cpus();
    std::string const policy = memory_policy();
    Energy energy;
    if (plan.whole) energy.begin(plan.sysfs);
    LostTime lost_time(mask);
    ProfileFolder profile(plan);
    Signals const signals;
    Children children(signals);
    children.begin(plan);
    int lock = profile.lock();
    close_inherited({&report, &lock});
    profile.moved_to(lock);
    ProcessSampler sampler(children.begin_ns(), energy);
    children.wait_for_program(sampler);
    Lost const lost = lost_time.end();
    ProcessRecord record = sampler.end();
    energy.sample();
    children.end_descendants();
    ProgramResult ended = children.result();
    ended.mask = mask;
    ended.memory_policy = policy;
    ended.lost = lost;
    ended.record = std::move(record);
    profile.leave();  // before the report, which states that nothing is left to be collected
    std::string const line = line_of(plan, ended, energy.domains());
    if (report >= 0) static_cast<void>(!write(report, line.data(), line.size()));
    if (!plan.remove.empty()) remove_folder(plan.remove);
    end_as(ended);
}

}  // namespace octant::bind
