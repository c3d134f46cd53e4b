#include "octant/lost.hpp"

#include "octant/clock.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <string>

namespace octant {
namespace {

int own_number() { return static_cast<int>(syscall(SYS_gettid)); }

std::int64_t thread_cpu_ns() noexcept {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::vector<int> threads_of_process() {
    std::vector<int> threads;
    std::error_code error;
    for (auto const& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
        std::string const name = entry.path().filename();
        int number = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc())
            threads.push_back(number);
    }
    return threads;
}

}  // namespace

WaitFile::WaitFile(int thread)
    : file_(open(("/proc/self/task/" + std::to_string(thread) + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC)) {}

WaitFile::~WaitFile() {
    if (file_ >= 0) close(file_);
}

// "cpu wait slices", the first two in ns; all 0 where the kernel does not keep them.
std::int64_t WaitFile::ns() const noexcept {
    std::array<char, 96> text{};
    ssize_t const size = file_ < 0 ? -1 : pread(file_, text.data(), text.size() - 1, 0);
    if (size <= 0) return -1;
    char const* const end = text.data() + size;
    std::int64_t cpu = 0, wait = 0;
    auto const first = std::from_chars(text.data(), end, cpu);
    if (first.ec != std::errc() || first.ptr == end || cpu == 0) return -1;
    return std::from_chars(first.ptr + 1, end, wait).ec == std::errc() ? wait : -1;
}

void Watch::begin() {
    for (int const number : alone_ ? std::vector{own_number()} : threads_of_process())
        if (!threads_.contains(number)) threads_.emplace(number, Thread{WaitFile(number)});
    for (auto& [_, thread] : threads_) thread.before = thread.file.ns();
    wall_before_ = now_ns();
    cpu_before_ = thread_cpu_ns();
}

RankTimes Watch::end() {
    cpu_ += thread_cpu_ns() - cpu_before_;
    wall_ += now_ns() - wall_before_;
    for (auto& [_, thread] : threads_) {
        std::int64_t const now = thread.file.ns();
        if (now >= 0 && thread.before >= 0) thread.sum = std::max<std::int64_t>(thread.sum, 0) + now - thread.before;
    }
    RankTimes taken{.wall = wall_, .cpu = one_thread_ ? cpu_ : -1};
    for (auto const& [_, thread] : threads_) {
        if (thread.sum < 0) continue;
        bool const adds = alone_ && taken.wait >= 0;  // another thread of the team has taken over this lane
        taken.wait = adds ? taken.wait + thread.sum : std::max(taken.wait, thread.sum);
    }
    return taken;
}

bool waits_use_cpu(Comm const& world) {
    constexpr std::int64_t late_ns = 2'000'000;  // longer than libraries poll before they sleep
    constexpr double polls = 0.8;
    for (int trial = 0; trial < 3 && world.size() > 1; ++trial) {
        world.barrier();
        Watch watch(true, true);
        watch.begin();
        if (world.rank() == 0) spin_until(now_ns() + late_ns);
        world.barrier();
        RankTimes const taken = watch.end();
        auto const with_cpu = static_cast<double>(taken.wall - std::max<std::int64_t>(taken.wait, 0));
        bool const waited = world.rank() != 0 && taken.wall > late_ns / 2;
        bool const sleeps = world.rank() != 0 && static_cast<double>(taken.cpu) < polls * with_cpu;
        if (world.max(std::int64_t{waited ? 1 : 0}) == 1 && world.max(std::int64_t{sleeps ? 1 : 0}) == 0) return true;
    }
    return false;
}

}  // namespace octant
