// Looks at the processes of a program while it runs: where their threads are and what memory they have. A thread of its
// own does this, so that a slow file of /proc never delays the recognition of the program's end.
#pragma once

#include "energy.hpp"
#include "plan.hpp"
#include "processes.hpp"

#include <pthread.h>

#include <cstdint>
#include <map>
#include <utility>

namespace octant::bind {

struct SeenThread {
    pid_t process = 0;
    std::string name;
    std::int64_t cpu_ticks = 0;
    Numbers mask;                 // of the last look
    std::map<int, int> seen_on;   // looks, by the hardware thread that it ran on last
    int cpu = -1, last_look = 0;  // of the last look that saw it
};

struct Seen {
    int looks = 0;
    std::size_t most_processes = 0;                                 // at once
    std::map<std::pair<pid_t, std::uint64_t>, SeenThread> threads;  // by number and start
    std::map<int, std::int64_t> node_bytes;                         // private memory when it was most
    std::int64_t huge_bytes = -1;                                   // of it; -1: it was never read
};

// Private memory by node of the text of /proc/PID/numa_maps: pages of files are not the program's own.
void add_node_bytes(std::string_view numa_maps, std::map<int, std::int64_t>& nodes);

// Bytes on huge pages, transparent or from a pool, of the text of /proc/PID/smaps_rollup.
[[nodiscard]] std::int64_t huge_bytes_in(std::string_view rollup);

class Looker {
  public:
    // Looks at the descendants of this process 20 ms, 40 ms, 80 ms … after `begin_ns` (CLOCK_MONOTONIC), later every
    // 2 s, and so much more rarely that a look takes 1 % of the time at most. `energy` is read at each look, so that no
    // counter wraps around twice.
    Looker(std::int64_t begin_ns, Energy& energy) : begin_ns_(begin_ns), energy_(energy) {}
    Looker(Looker const&) = delete;
    Looker& operator=(Looker const&) = delete;
    [[nodiscard]] std::int64_t first_look_ns() const;
    void start();              // without it nothing is seen: a thread that cannot be started is no reason to fail
    [[nodiscard]] Seen end();  // what was seen; a look that is not finished does not count, and is not waited for

  private:
    static void* run(void* self);
    void go_on();
    void look();
    void see_thread(pid_t process, pid_t thread, int look);
    void read_memory(std::vector<Stat> const& processes);
    [[nodiscard]] pid_t least_number();
    bool wait_until(std::int64_t time_ns);  // false: it is to end

    std::int64_t begin_ns_;
    Energy& energy_;
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t ends_{};
    bool ending_ = false;
    Seen seen_;
    // Of the looking thread alone:
    pid_t newest_ = 0;
    bool wrapped_ = false;
    double memory_ns_per_page_ = 20;
    std::int64_t memory_ns_ = 0;
};

}  // namespace octant::bind
