// Lost time of threads: readings at both ends of each burst, outside of its samples.
#pragma once

#include "octant/mpi.hpp"
#include "octant/steal.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace octant {

class WaitFile {  // the run-queue wait of one thread of this process; the file stays open
  public:
    explicit WaitFile(int thread);
    WaitFile(WaitFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    WaitFile(WaitFile const&) = delete;
    WaitFile& operator=(WaitFile const&) = delete;
    WaitFile& operator=(WaitFile&&) = delete;
    ~WaitFile();
    [[nodiscard]] std::int64_t ns() const noexcept;  // so far; -1: not available, or the thread has ended

  private:
    int file_;
};

struct RankTimes {  // sums over the bursts of a lane, ns; -1: not available
    std::int64_t wall = 0;
    std::int64_t cpu = 0;
    std::int64_t wait = -1;  // where several threads are watched, of the one that waited most
};

// Watches one lane. `alone`: the run-queue wait is that of the lane's own thread, else that of all threads of the
// process, of which a library may have several. `one_thread`: the lane's own thread does all of its work, and its CPU
// clock is read.
class Watch {
  public:
    Watch(bool alone, bool one_thread) : alone_(alone), one_thread_(one_thread) {}
    void begin();     // by the lane's own thread
    RankTimes end();  // by the same; all bursts so far

  private:
    struct Thread {
        WaitFile file;
        std::int64_t before = -1, sum = -1;
    };
    bool alone_, one_thread_;
    std::int64_t wall_before_ = 0, cpu_before_ = 0, wall_ = 0, cpu_ = 0;
    std::map<int, Thread> threads_;
};

// Returns whether a rank that waits in the MPI library uses its CPU (polls); missing CPU time is then lost time.
// Collective over the world; false also if no trial is possible.
[[nodiscard]] bool waits_use_cpu(Comm const& world);

}  // namespace octant
