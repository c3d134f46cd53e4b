#include "ledger.hpp"

#include <vector>

namespace mesh {
namespace {

int length(auto const& values) { return static_cast<int>(values.size()); }

}  // namespace

std::string_view name_of(Routine routine) {
    static constexpr std::array<std::string_view, routine_count> names{
        "MPI_Send", "MPI_Isend", "MPI_Recv",      "MPI_Irecv",     "MPI_Sendrecv",   "MPI_Waitall", "MPI_Test",
        "MPI_Bcast", "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Gather", "MPI_Barrier"};
    return names[static_cast<std::size_t>(routine)];
}

void Ledger::add(Routine routine, std::size_t bytes, int messages) {
    auto& count = counts_[static_cast<std::size_t>(routine)];
    ++count.calls;
    count.messages += messages;
    count.bytes += static_cast<std::int64_t>(bytes);
}

void Ledger::send(std::span<double const> values, int to, int tag) {
    MPI_Send(values.data(), length(values), MPI_DOUBLE, to, tag, communicator_);
    add(Routine::send, values.size_bytes(), 1);
}

void Ledger::recv(std::span<double> values, int from, int tag) {
    MPI_Recv(values.data(), length(values), MPI_DOUBLE, from, tag, communicator_, MPI_STATUS_IGNORE);
    add(Routine::recv, values.size_bytes(), 1);
}

MPI_Request Ledger::isend(std::span<double const> values, int to, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(values.data(), length(values), MPI_DOUBLE, to, tag, communicator_, &request);
    add(Routine::isend, values.size_bytes(), 1);
    return request;
}

MPI_Request Ledger::irecv(std::span<double> values, int from, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(values.data(), length(values), MPI_DOUBLE, from, tag, communicator_, &request);
    add(Routine::irecv, values.size_bytes(), 1);
    return request;
}

void Ledger::sendrecv(std::span<double const> values, int to, std::span<double> into, int from, int tag) {
    MPI_Sendrecv(values.data(), length(values), MPI_DOUBLE, to, tag, into.data(), length(into), MPI_DOUBLE, from, tag,
                 communicator_, MPI_STATUS_IGNORE);
    add(Routine::sendrecv, values.size_bytes(), 1);
}

bool Ledger::test(MPI_Request& request) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    add(Routine::test);
    return done != 0;
}

void Ledger::waitall(std::span<MPI_Request> requests) {
    MPI_Waitall(length(requests), requests.data(), MPI_STATUSES_IGNORE);
    add(Routine::waitall);
}

void Ledger::bcast(std::span<int> values, int root) {
    int rank = 0;
    MPI_Comm_rank(communicator_, &rank);
    MPI_Bcast(values.data(), length(values), MPI_INT, root, communicator_);
    add(Routine::bcast, rank == root ? values.size_bytes() : 0);
}

double Ledger::largest(double value) {
    double result = 0.0;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, communicator_);
    add(Routine::allreduce, sizeof value);
    return result;
}

void Ledger::allgather(int value, std::span<int> into) {
    MPI_Allgather(&value, 1, MPI_INT, into.data(), 1, MPI_INT, communicator_);
    add(Routine::allgather, sizeof value);
}

void Ledger::allgatherv(std::span<double const> values, std::span<double> into) {
    auto const ranks = into.size() / values.size();
    std::vector<int> counts(ranks, length(values)), begins(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) begins[rank] = static_cast<int>(rank * values.size());
    MPI_Allgatherv(values.data(), length(values), MPI_DOUBLE, into.data(), counts.data(), begins.data(), MPI_DOUBLE, communicator_);
    add(Routine::allgatherv, values.size_bytes());
}

void Ledger::barrier() {
    MPI_Barrier(communicator_);
    add(Routine::barrier);
}

void Ledger::gather(std::span<double const> further, std::span<double> into) {
    std::vector<double> values(further.begin(), further.end());
    values.resize(further.size() + 3 * routine_count);
    add(Routine::gather, values.size() * sizeof(double));
    std::size_t at = further.size();
    for (auto const& one : counts_)
        for (auto const number : {one.calls, one.messages, one.bytes}) values[at++] = static_cast<double>(number);
    MPI_Gather(values.data(), length(values), MPI_DOUBLE, into.data(), length(values), MPI_DOUBLE, 0, communicator_);
}

}  // namespace mesh
