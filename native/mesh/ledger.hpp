// Calls of MPI that count themselves: calls, messages and bytes by routine, independent of any profiler.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace mesh {

enum class Routine { send, isend, recv, irecv, sendrecv, waitall, test, bcast, allreduce, allgather, allgatherv, gather, barrier };
inline constexpr std::size_t routine_count = 13;

std::string_view name_of(Routine routine);  // "MPI_Send"

struct Count {
    std::int64_t calls = 0;
    std::int64_t messages = 0;  // that a send call sends, or that a receive call receives
    std::int64_t bytes = 0;     // sent by send calls and as a contribution to collectives, received by receive calls
};

class Ledger {
public:
    explicit Ledger(MPI_Comm communicator) : communicator_(communicator) {}

    void send(std::span<double const> values, int to, int tag);
    void recv(std::span<double> values, int from, int tag);
    MPI_Request isend(std::span<double const> values, int to, int tag);
    MPI_Request irecv(std::span<double> values, int from, int tag);
    void sendrecv(std::span<double const> values, int to, std::span<double> into, int from, int tag);
    bool test(MPI_Request& request);
    void waitall(std::span<MPI_Request> requests);
    void bcast(std::span<int> values, int root);
    double largest(double value);                                           // MPI_Allreduce
    void allgather(int value, std::span<int> into);
    void allgatherv(std::span<double const> values, std::span<double> into);  // equally many values from each rank
    void barrier();
    // The last call: MPI_Gather of the ledger itself, which includes this call, and of further values.
    // Returns the values of all ranks at rank 0: those of `further`, then calls, messages and bytes of each routine.
    void gather(std::span<double const> further, std::span<double> into);

    Count const& operator[](Routine routine) const { return counts_[static_cast<std::size_t>(routine)]; }

private:
    void add(Routine routine, std::size_t bytes = 0, int messages = 0);

    MPI_Comm communicator_;
    std::array<Count, routine_count> counts_{};
};

}  // namespace mesh
