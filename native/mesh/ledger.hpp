// Counts of the calls of MPI that the program makes, kept by itself: independent of any profiler.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mesh {

enum class Routine {
    send,
    isend,
    recv,
    irecv,
    sendrecv,
    waitall,
    test,
    bcast,
    allreduce,
    allgather,
    allgatherv,
    gather,
    barrier
};
inline constexpr std::size_t routine_count = 13;

std::string_view name_of(Routine routine);  // "MPI_Send"

class Ledger {
  public:
    // A call that sends or receives `messages`; `bytes` are those that it sends, receives, or contributes to a
    // collective.
    void add(Routine routine, std::size_t bytes = 0, int messages = 0);

    // Calls, messages and bytes of each routine.
    std::vector<double> numbers() const;

  private:
    struct Count {
        std::int64_t calls = 0, messages = 0, bytes = 0;
    };
    std::array<Count, routine_count> counts_{};
};

}  // namespace mesh
