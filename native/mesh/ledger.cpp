#include "ledger.hpp"

namespace mesh {

std::string_view name_of(Routine routine) {
    static constexpr std::array<std::string_view, routine_count> names{
        "MPI_Send",  "MPI_Isend",     "MPI_Recv",      "MPI_Irecv",      "MPI_Sendrecv", "MPI_Waitall", "MPI_Test",
        "MPI_Bcast", "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Gather",   "MPI_Barrier"};
    return names[static_cast<std::size_t>(routine)];
}

void Ledger::add(Routine routine, std::size_t bytes, int messages) {
    auto& count = counts_[static_cast<std::size_t>(routine)];
    ++count.calls;
    count.messages += messages;
    count.bytes += static_cast<std::int64_t>(bytes);
}

std::vector<double> Ledger::numbers() const {
    std::vector<double> found;
    for (auto const& one : counts_)
        for (auto const number : {one.calls, one.messages, one.bytes}) found.push_back(static_cast<double>(number));
    return found;
}

}  // namespace mesh
