// Samples the processes of a program while it runs: hardware threads and CPU masks of their threads, and their memory.
// This is done in a separate thread, so that a slow file in /proc does not delay the detection of the program's end.
#pragma once

#include "energy.hpp"
#include "plan.hpp"
#include "processes.hpp"

#include <pthread.h>

#include <cstdint>
#include <map>
#include <utility>

namespace octant::bind {

struct ThreadRecord {
    pid_t process = 0;
    std::string name;
    std::int64_t cpu_ticks = 0;
    Numbers mask;                       // of the last sample
    std::map<int, int> samples_by_cpu;  // number of samples by hardware thread
    int cpu = -1, last_sample = 0;      // of the last sample with this thread
};

struct ProcessRecord {
    int samples = 0;
    std::size_t max_processes = 0;                                    // at once
    std::map<std::pair<pid_t, std::uint64_t>, ThreadRecord> threads;  // by number and start
    std::map<int, std::int64_t> node_bytes;                           // private memory at its maximum
    std::int64_t huge_bytes = -1;                                     // of this memory; -1: not known
};

// Private memory by node of the text of /proc/PID/numa_maps: pages of files are not the program's own.
void add_node_bytes(std::string_view numa_maps, std::map<int, std::int64_t>& nodes);

// Bytes on huge pages, transparent or from a pool, of the text of /proc/PID/smaps_rollup.
[[nodiscard]] std::int64_t huge_bytes_in(std::string_view rollup);

class ProcessSampler {
  public:
    // Samples the descendants of this process 20 ms, 40 ms, 80 ms … after `begin_ns` (CLOCK_MONOTONIC), later every 2
    // s, and less often if samples would take more than 1 % of the time. `energy` is read with each sample, so that no
    // counter wraps around twice.
    ProcessSampler(std::int64_t begin_ns, Energy& energy) : begin_ns_(begin_ns), energy_(energy) {}
    ProcessSampler(ProcessSampler const&) = delete;
    ProcessSampler& operator=(ProcessSampler const&) = delete;
    [[nodiscard]] std::int64_t first_sample_ns() const;
    void start();                       // if the thread cannot be started, there are no samples, and no error
    [[nodiscard]] ProcessRecord end();  // stops sampling; an incomplete sample is discarded

  private:
    static void* run(void* self);
    void run_until_end();
    void take_sample();
    void record_thread(pid_t process, pid_t thread, int sample);
    void read_memory(std::vector<Stat> const& processes);
    [[nodiscard]] pid_t min_pid();
    bool wait_until(std::int64_t time_ns);  // false: sampling ends

    std::int64_t begin_ns_;
    Energy& energy_;
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t ends_{};
    bool ending_ = false;
    ProcessRecord record_;
    // Only for the sampling thread:
    pid_t newest_ = 0;
    bool wrapped_ = false;
    double memory_ns_per_page_ = 20;
    std::int64_t memory_ns_ = 0;
};

}  // namespace octant::bind
