// Executes all flows of a traffic file simultaneously under SimGrid's smpirun: ranks post receives and sends, and wait.
// Compiled on demand with smpicxx. Writes one JSON line with the simulated time from the first start to the last end.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Flow {
    int from, to;
    long long bytes;
    [[nodiscard]] unsigned char mark() const { return static_cast<unsigned char>(1 + (31 * from + to) % 255); }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(bytes); }
};

struct Flows {
    std::vector<Flow> sent, received;
};

Flows read(std::string const& path, int rank, int ranks) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    Flows mine;
    for (Flow flow{}; file >> flow.from >> flow.to >> flow.bytes;) {
        bool const sane =
            std::clamp(flow.from, 0, ranks - 1) == flow.from && std::clamp(flow.to, 0, ranks - 1) == flow.to;
        if (!sane || flow.bytes < 0 || flow.bytes > std::numeric_limits<int>::max())
            throw std::runtime_error("cannot send a flow of " + path + " (no such rank, or too many bytes)");
        if (flow.from == rank) mine.sent.push_back(flow);
        if (flow.to == rank) mine.received.push_back(flow);
    }
    return mine;
}

std::vector<std::size_t> offsets(std::vector<Flow> const& flows) {
    std::vector<std::size_t> at{0};
    for (auto const& flow : flows) at.push_back(at.back() + flow.size());
    return at;
}

void exchange(std::string const& traffic, std::string const& output) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    auto const [sent, received] = read(traffic, rank, ranks);
    auto const from = offsets(sent), to = offsets(received);
    std::vector<unsigned char> out(from.back() + 1), in(to.back() + 1);
    for (std::size_t i = 0; i < sent.size(); ++i) std::fill_n(&out[from[i]], sent[i].size(), sent[i].mark());
    std::vector<MPI_Request> requests(sent.size() + received.size(), MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    std::size_t next = 0;
    for (std::size_t i = 0; i < received.size(); ++i)
        MPI_Irecv(&in[to[i]], static_cast<int>(received[i].bytes), MPI_BYTE, received[i].from, 0, MPI_COMM_WORLD,
                  &requests[next++]);
    for (std::size_t i = 0; i < sent.size(); ++i)
        MPI_Isend(&out[from[i]], static_cast<int>(sent[i].bytes), MPI_BYTE, sent[i].to, 0, MPI_COMM_WORLD,
                  &requests[next++]);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    double end_s = MPI_Wtime();
    long long wrong = 0;
    for (std::size_t i = 0; i < received.size(); ++i)
        wrong += std::count_if(&in[to[i]], &in[to[i + 1]], [mark = received[i].mark()](auto b) { return b != mark; });
    MPI_Allreduce(MPI_IN_PLACE, &begin_s, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &end_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank != 0) return;
    std::ofstream file(output);
    file.precision(17);
    file << R"({"seconds": )" << end_s - begin_s << R"(, "wrong_bytes": )" << wrong << "}\n";
    if (!file.flush()) throw std::runtime_error("cannot write " + output);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        if (argc != 3) throw std::runtime_error("cannot start (needs a traffic file and an output file)");
        exchange(argv[1], argv[2]);
    } catch (std::exception const& error) {
        std::cerr << "octant-exchange: " << error.what() << '\n';
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
