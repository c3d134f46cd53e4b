#include "process_sampler.hpp"

#include "prepare.hpp"

#include "octant/clock.hpp"
#include "octant/system_file.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <vector>

namespace octant::bind {
namespace {

constexpr std::int64_t first_interval_ns = 20'000'000, longest_interval_ns = 2'000'000'000;
constexpr std::int64_t cost_factor = 100;  // a sample takes at most 1 % of the time since the last one
constexpr std::size_t max_threads = 1024;
constexpr std::int64_t process_memory_ns = 100'000;  // to read the memory of a process that has little

// The cost of a sample is the CPU time of this thread: preempted or waiting, it takes no time of the program.
std::int64_t thread_cpu_ns() {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

class Lock {
  public:
    explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
    Lock(Lock const&) = delete;
    Lock& operator=(Lock const&) = delete;
    ~Lock() { pthread_mutex_unlock(&mutex_); }

  private:
    pthread_mutex_t& mutex_;
};

std::string folder_of(pid_t process) { return "/proc/" + std::to_string(process); }

std::int64_t sum_of(std::map<int, std::int64_t> const& nodes) {
    std::int64_t sum = 0;
    for (auto const& [_, bytes] : nodes) sum += bytes;
    return sum;
}

// Removes a thread above the limit: ended threads first, then those with the least CPU time.
void drop_least_active_thread(ProcessRecord& record) {
    if (record.threads.size() <= max_threads) return;
    auto const least = std::ranges::min_element(record.threads, {}, [&](auto const& entry) {
        return std::pair(entry.second.last_sample == record.samples, entry.second.cpu_ticks);
    });
    record.threads.erase(least);
}

}  // namespace

void add_node_bytes(std::string_view numa_maps, std::map<int, std::int64_t>& nodes) {
    for (std::string_view line; next_line(numa_maps, line);) {
        bool own = false;
        std::int64_t page_bytes = 4096;
        std::map<int, std::int64_t> pages;
        for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
            constexpr std::string_view size = "kernelpagesize_kB=";
            auto const equals = word.find('=');
            own = own || word == "huge" || word.starts_with("anon=");
            if (word.starts_with(size))
                page_bytes = 1024 * leading_number<std::int64_t>(word.substr(size.size())).value_or(4);
            if (!word.starts_with('N') || equals == std::string_view::npos) continue;
            auto const node = leading_number<int>(word.substr(1, equals - 1));
            if (node) pages[*node] += leading_number<std::int64_t>(word.substr(equals + 1)).value_or(0);
        }
        if (!own) continue;
        for (auto const& [node, count] : pages) nodes[node] += count * page_bytes;
    }
}

std::int64_t huge_bytes_in(std::string_view rollup) {
    std::int64_t bytes = 0;
    for (std::string_view line; next_line(rollup, line);) {
        std::string_view const name = next_word(line);
        if (name == "AnonHugePages:" || name == "Private_Hugetlb:")
            bytes += 1024 * leading_number<std::int64_t>(line).value_or(0);
    }
    return bytes;
}

std::int64_t ProcessSampler::first_sample_ns() const { return begin_ns_ + first_interval_ns; }

void ProcessSampler::start() {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ends_, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, std::size_t{256} << 10);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    pthread_create(&thread, &small, run, this);
    pthread_attr_destroy(&small);
}

ProcessRecord ProcessSampler::end() {
    Lock const lock(mutex_);
    ending_ = true;
    pthread_cond_signal(&ends_);
    return std::move(record_);
}

void* ProcessSampler::run(void* self) {
    static_cast<ProcessSampler*>(self)->run_until_end();
    return nullptr;
}

bool ProcessSampler::wait_until(std::int64_t time_ns) {
    std::timespec const time{.tv_sec = time_ns / 1'000'000'000, .tv_nsec = time_ns % 1'000'000'000};
    Lock const lock(mutex_);
    while (!ending_ && now_ns() < time_ns) pthread_cond_timedwait(&ends_, &mutex_, &time);
    return !ending_;
}

void ProcessSampler::run_until_end() {
    for (std::int64_t next = first_sample_ns(); wait_until(next);) {
        std::int64_t const before = thread_cpu_ns();
        take_sample();
        std::int64_t const cost = thread_cpu_ns() - before, end = now_ns();
        next = end + std::max(std::min(end - begin_ns_, longest_interval_ns), cost_factor * cost);
    }
}

// Later processes have greater numbers, until these begin anew.
pid_t ProcessSampler::min_pid() {
    std::string const load = file_text("/proc/loadavg");
    auto const last = load.rfind(' ');
    pid_t const newest = last == std::string::npos ? 0 : leading_number<pid_t>(load.substr(last)).value_or(0);
    wrapped_ = wrapped_ || newest < std::max(newest_, getpid());
    newest_ = newest;
    return wrapped_ ? 1 : getpid();
}

void ProcessSampler::take_sample() {
    auto const processes = descendants(getpid(), min_pid());
    int sample = 0;
    {
        Lock const lock(mutex_);
        if (ending_) return;
        sample = ++record_.samples;
        record_.max_processes = std::max(record_.max_processes, processes.size());
        energy_.sample();
    }
    for (auto const& process : processes)
        for (pid_t const thread : numbered_entries(folder_of(process.id) + "/task"))
            record_thread(process.id, thread, sample);
    read_memory(processes);
}

void ProcessSampler::record_thread(pid_t process, pid_t thread, int sample) {
    auto stat = parse_stat(file_text(folder_of(process) + "/task/" + std::to_string(thread) + "/stat"));
    if (!stat || stat->state == 'Z' || stat->state == 'X') return;
    Numbers mask = allowed_cpus(thread);
    Lock const lock(mutex_);
    if (ending_) return;
    ThreadRecord& record = record_.threads[{thread, stat->started}];
    record.process = process;
    record.name = std::move(stat->name);
    record.cpu_ticks = stat->cpu_ticks;
    record.mask = std::move(mask);
    record.cpu = stat->cpu;
    record.last_sample = sample;
    ++record.samples_by_cpu[stat->cpu];
    drop_least_active_thread(record_);
}

// The kernel walks the page tables for it, which takes the longer the more pages there are.
void ProcessSampler::read_memory(std::vector<Stat> const& processes) {
    std::int64_t pages = 0;
    for (auto const& process : processes) pages += process.resident_pages;
    std::int64_t const before = thread_cpu_ns(), few = process_memory_ns * static_cast<std::int64_t>(processes.size());
    auto const expected = static_cast<std::int64_t>(memory_ns_per_page_ * static_cast<double>(pages)) + few;
    if (processes.empty() || cost_factor * (memory_ns_ + expected) > now_ns() - begin_ns_) return;
    std::map<int, std::int64_t> nodes;
    std::int64_t huge = 0;
    bool readable = false;  // the processes of another user are not
    for (auto const& process : processes) {
        constexpr std::size_t most = std::size_t{16} << 20;
        add_node_bytes(file_text(folder_of(process.id) + "/numa_maps", most), nodes);
        std::string const rollup = file_text(folder_of(process.id) + "/smaps_rollup");
        huge += huge_bytes_in(rollup);
        readable = readable || !rollup.empty();
    }
    std::int64_t const taken = thread_cpu_ns() - before;
    memory_ns_ += taken;
    if (pages > 0)
        memory_ns_per_page_ =
            std::clamp(static_cast<double>(taken - few) / static_cast<double>(pages), 1.0, memory_ns_per_page_ * 4);
    Lock const lock(mutex_);
    if (ending_ || !readable || (record_.huge_bytes >= 0 && sum_of(nodes) < sum_of(record_.node_bytes))) return;
    record_.node_bytes = std::move(nodes);
    record_.huge_bytes = huge;
}

}  // namespace octant::bind
