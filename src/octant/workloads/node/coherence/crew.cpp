#include "crew.hpp"

#include "octant/context.hpp"
#include "octant/failure.hpp"
#include "octant/noise.hpp"
#include "octant/seats.hpp"
#include "octant/thread.hpp"

#include <sys/mman.h>

#include <set>
#include <utility>

namespace coherence {
namespace {

octant::Refusal cpu_refusal(int cpu) {
    return octant::Refusal("cannot run on hardware thread " + std::to_string(cpu) +
                           " (not allowed by the system); do not change the cpuset during the measurement");
}

}  // namespace

std::vector<int> hardware_threads_of(octant::Context const& context, std::string const& among) {
    std::vector<std::vector<int>> masks(static_cast<std::size_t>(context.threads));
    context.on_each_thread([&](int lane) { masks[static_cast<std::size_t>(lane)] = octant::allowed_cpus(); });
    std::set<std::int64_t> all;
    for (auto const& mask : masks) all.insert(mask.begin(), mask.end());
    std::set<int> cores;
    std::vector<int> found;
    for (auto const& one : octant::hardware_threads(std::vector(all.begin(), all.end())))
        if (among != "core" || cores.insert(one.core).second) found.push_back(one.cpu);
    return found;
}

Seat::Seat(int cpu) : before_(octant::allowed_cpus()) {
    if (!octant::allow_cpus({cpu})) throw cpu_refusal(cpu);
}

Seat::~Seat() { static_cast<void>(octant::allow_cpus(before_)); }  // where the process may still be there, it is

Helper::Helper() : thread_(octant::start_thread([this] { work(); }, "a smaller sharers=")) {}

Helper::~Helper() {
    state_ = leaving;
    state_.notify_all();
    thread_.join();
}

void Helper::send(int cpu, std::function<void()> work) {
    cpu_ = cpu;
    work_ = std::move(work);
    state_ = sent;
    state_.notify_all();
    if (wait_while(sent) == refused) {
        state_ = idle;
        throw cpu_refusal(cpu);
    }
}

int Helper::finished() {
    wait_while(there);
    state_ = idle;
    return cpu_;
}

// Asleep: the other thread may have to run on this very hardware thread before it is where it is sent.
int Helper::wait_while(int state) {
    state_.wait(state);
    return state_;
}

void Helper::work() {
    for (int state = state_; state != leaving; state = state_) {
        if (state != sent) {
            state_.wait(state);
            continue;
        }
        bool const here = octant::allow_cpus({cpu_});
        state_ = here ? there : refused;
        state_.notify_all();
        if (!here) continue;
        work_();
        cpu_ = octant::current_cpu();
        state_ = done;
        state_.notify_all();
    }
}

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        throw octant::Refusal("cannot map " + std::to_string(bytes) +
                              " B (out of memory); free some memory, then try again");
    madvise(mapped, bytes, MADV_NOHUGEPAGE);
    data_ = static_cast<std::byte*>(mapped);
}

Pages::~Pages() { munmap(data_, bytes_); }

}  // namespace coherence
