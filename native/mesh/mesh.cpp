// octant-mpi-mesh: a small application with the communication of a code with adaptive mesh refinement (ENZO in the
// slides on POWER7): halo exchange, a reduction of 8 bytes in each step, transposition, and small collectives when it
// refines. It counts its own calls of MPI, so that a profile can be compared with exact numbers, and verifies its
// result.
#include "block.hpp"
#include "ledger.hpp"
#include "options.hpp"
#include "profiler/octant_profile.h"

#include <mpi.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace mesh {
namespace {

constexpr double allowed_error = 1e-9;          // relative to values of 1; rounding errors are far below
constexpr std::size_t description_length = 13;  // numbers that describe a block: 104 bytes, as in the profile of ENZO
constexpr int transfer_tag = 10, transpose_tag = 11;
constexpr int wrong_result = 4, wrong_word = 2;  // exit statuses, as of all programs of Octant

int length(auto const& values) { return static_cast<int>(values.size()); }

Side opposite(Side side) {
    switch (side) {
        case Side::west:
            return Side::east;
        case Side::east:
            return Side::west;
        case Side::south:
            return Side::north;
        case Side::north:
            break;
    }
    return Side::south;
}

// The communicator of the mesh; its ranks are those of MPI_COMM_WORLD.
class Grid {
  public:
    Grid() {
        int ranks = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        std::array<int, 2> blocks{};
        MPI_Dims_create(ranks, 2, blocks.data());
        std::array<int, 2> const periodic{1, 1};
        MPI_Cart_create(MPI_COMM_WORLD, 2, blocks.data(), periodic.data(), 0, &communicator_);
        MPI_Comm_rank(communicator_, &rank_);
        MPI_Comm_size(communicator_, &ranks_);
        blocks_ = blocks;
    }
    ~Grid() { MPI_Comm_free(&communicator_); }
    Grid(Grid const&) = delete;
    Grid& operator=(Grid const&) = delete;

    MPI_Comm communicator() const { return communicator_; }
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }

    Place place(int rank) const {
        Place found{blocks_, {}};
        MPI_Cart_coords(communicator_, rank, 2, found.at.data());
        return found;
    }

    int neighbour(Side side) const {
        int west = 0, east = 0;
        bool const across = side == Side::west || side == Side::east;
        MPI_Cart_shift(communicator_, across ? 0 : 1, 1, &west, &east);
        return side == Side::west || side == Side::south ? west : east;
    }

  private:
    MPI_Comm communicator_ = MPI_COMM_NULL;
    int rank_ = 0, ranks_ = 1;
    std::array<int, 2> blocks_{};
};

class Solver {
  public:
    Solver(Grid const& grid, Options const& options)
        : grid_(grid),
          options_(options),
          mesh_(grid.communicator()),
          block_(grid.place(grid.rank()), options.size, options.fields) {
        for (auto const side : sides) neighbours_[static_cast<std::size_t>(side)] = grid.neighbour(side);
        for (auto* const halos : {&out_, &in_})
            for (auto& halo : *halos)
                halo.resize(static_cast<std::size_t>(options.size) * static_cast<std::size_t>(options.fields));
    }

    // Returns the time of the steps in seconds.
    double run() {
        barrier();
        double const begun_s = MPI_Wtime();
        for (int step = 0; step < options_.steps; ++step) {
            if (step % options_.refine == 0) refine(step);
            exchange();
            solve();
        }
        double const steps_s = MPI_Wtime() - begun_s;
#ifdef OCTANT_FAULTS
        if (char const* const fault = std::getenv("OCTANT_FAULT"); fault && std::string_view(fault) == "wrong:mesh")
            block_.unpack(Side::west, out_[0]), block_.sweep(), block_.advance();
#endif
        note(block_.error());
        return steps_s;
    }

    // Returns at rank 0, for each rank: the time of the steps, its largest error, and its counts, which include this
    // call.
    std::vector<double> gather(double steps_s) {
        ledger_.add(Routine::gather, (2 + 3 * routine_count) * sizeof(double));
        auto values = ledger_.numbers();
        values.insert(values.begin(), {steps_s, error_});
        std::vector<double> all(grid_.rank() == 0 ? values.size() * static_cast<std::size_t>(grid_.ranks()) : 0);
        MPI_Gather(values.data(), length(values), MPI_DOUBLE, all.data(), length(values), MPI_DOUBLE, 0, mesh_);
        return all;
    }

  private:
    void barrier() {
        MPI_Barrier(mesh_);
        ledger_.add(Routine::barrier);
    }
    void note(double error) { error_ = std::max(error_, error); }
    void require(bool condition) { note(condition ? 0.0 : std::numeric_limits<double>::infinity()); }

    // The refined block moves on by one rank. Rank 0 decides; the rank before sends the description of what it had.
    void refine(int step) {
        octant_scope const region("refine");
        std::array<int, 3> control{step, step / options_.refine % grid_.ranks(), options_.sweeps};
        if (grid_.rank() != 0) control = {};
        MPI_Bcast(control.data(), length(control), MPI_INT, 0, mesh_);
        ledger_.add(Routine::bcast, grid_.rank() == 0 ? sizeof control : 0);
        require(control[0] == step);
        hand_over(control[1]);
        auto const ranks = static_cast<std::size_t>(grid_.ranks());
        int const has_refined = grid_.rank() == refined_;
        std::vector<int> refined(ranks);
        MPI_Allgather(&has_refined, 1, MPI_INT, refined.data(), 1, MPI_INT, mesh_);
        ledger_.add(Routine::allgather, sizeof has_refined);
        require(refined[static_cast<std::size_t>(refined_)] == 1 && std::ranges::count(refined, 1) == 1);
        gather_descriptions(ranks);
        barrier();
    }

    void hand_over(int next) {
        std::array<double, description_length> description{static_cast<double>(refined_)};
        if (refined_ >= 0 && refined_ != next && grid_.rank() == refined_) {
            MPI_Send(description.data(), length(description), MPI_DOUBLE, next, transfer_tag, mesh_);
            ledger_.add(Routine::send, sizeof description, 1);
        }
        if (refined_ >= 0 && refined_ != next && grid_.rank() == next) {
            description = {};
            MPI_Recv(description.data(), length(description), MPI_DOUBLE, refined_, transfer_tag, mesh_,
                     MPI_STATUS_IGNORE);
            ledger_.add(Routine::recv, sizeof description, 1);
            require(description[0] == refined_);
        }
        refined_ = next;
    }

    void gather_descriptions(std::size_t ranks) {
        std::array<double, description_length> const description{static_cast<double>(grid_.rank())};
        std::vector<double> every(ranks * description_length);
        std::vector<int> counts(ranks, length(description)), begins(ranks);
        for (std::size_t rank = 0; rank < ranks; ++rank) begins[rank] = static_cast<int>(rank * description_length);
        MPI_Allgatherv(description.data(), length(description), MPI_DOUBLE, every.data(), counts.data(), begins.data(),
                       MPI_DOUBLE, mesh_);
        ledger_.add(Routine::allgatherv, sizeof description);
        for (std::size_t rank = 0; rank < ranks; ++rank)
            require(every[rank * description_length] == static_cast<double>(rank));
    }

    void exchange() {
        octant_scope const region("exchange");
        std::array<MPI_Request, 8> requests;
        std::size_t started = 0, bytes = in_[0].size() * sizeof(double);
        for (auto const side : sides) {
            auto const at = static_cast<std::size_t>(side);
            MPI_Irecv(in_[at].data(), length(in_[at]), MPI_DOUBLE, neighbours_[at], static_cast<int>(opposite(side)),
                      mesh_, &requests[started++]);
            ledger_.add(Routine::irecv, bytes, 1);
        }
        for (auto const side : sides) {
            auto const at = static_cast<std::size_t>(side);
            block_.pack(side, out_[at]);
            MPI_Isend(out_[at].data(), length(out_[at]), MPI_DOUBLE, neighbours_[at], static_cast<int>(side), mesh_,
                      &requests[started++]);
            ledger_.add(Routine::isend, bytes, 1);
        }
        for (auto& request : std::span(requests).first(4)) {  // lets the library make progress
            int done = 0;
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            ledger_.add(Routine::test);
        }
        MPI_Waitall(length(requests), requests.data(), MPI_STATUSES_IGNORE);
        ledger_.add(Routine::waitall);
        for (auto const side : sides) block_.unpack(side, in_[static_cast<std::size_t>(side)]);
    }

    void solve() {
        octant_scope const region("solve");
        int sweeps = options_.sweeps * (grid_.rank() == options_.slow_rank ? options_.slow_factor : 1);
        if (grid_.rank() == refined_) sweeps += options_.sweeps;  // a refined block is more work
        double change = 0.0, largest = 0.0;
        for (int sweep = 0; sweep < sweeps; ++sweep) change = block_.sweep();
        block_.advance();
        MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, mesh_);
        ledger_.add(Routine::allreduce, sizeof change);
        require(largest >= change);
        transpose();
    }

    // Each rank sends a part of its block to each other rank, as for a Fourier transform.
    void transpose() {
        int const ranks = grid_.ranks();
        for (int shift = 1; shift < ranks; ++shift) {
            int const to = (grid_.rank() + shift) % ranks, from = (grid_.rank() + ranks - shift) % ranks;
            auto const sent = block_.part(to, ranks);
            std::vector<double> received(sent.size());
            MPI_Sendrecv(sent.data(), length(sent), MPI_DOUBLE, to, transpose_tag, received.data(), length(received),
                         MPI_DOUBLE, from, transpose_tag, mesh_, MPI_STATUS_IGNORE);
            ledger_.add(Routine::sendrecv, sent.size() * sizeof(double), 1);
            note(block_.error_of_part(grid_.place(from), grid_.rank(), received));
        }
    }

    Grid const& grid_;
    Options const& options_;
    MPI_Comm mesh_;
    Block block_;
    Ledger ledger_;
    std::array<int, 4> neighbours_{};
    std::array<std::vector<double>, 4> out_, in_;
    int refined_ = -1;
    double error_ = 0.0;
};

void print_row(char const* label, std::span<double const> counts) {
    for (std::size_t routine = 0; routine < routine_count; ++routine) {
        double const* const one = &counts[3 * routine];
        if (one[0] > 0)
            std::printf("%s%-15s %10.0f calls %10.0f messages %14.0f bytes\n", label,
                        name_of(static_cast<Routine>(routine)).data(), one[0], one[1], one[2]);
    }
}

// Prints the results of all ranks, which Ledger::gather has collected; returns the exit status.
int report(Options const& options, Place const& place, std::span<double const> all, std::size_t ranks) {
    std::size_t const each = all.size() / ranks;
    double steps_s = 0.0, error = 0.0;
    std::vector<double> totals(3 * routine_count);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        auto const one = all.subspan(rank * each, each);
        steps_s = std::max(steps_s, one[0]);
        error = std::max(error, one[1]);
        for (std::size_t n = 0; n < totals.size(); ++n) totals[n] += one[2 + n];
    }
    std::printf("octant-mpi-mesh: %zu ranks (%d x %d), %d x %d cells each, %d fields, %d steps\n", ranks,
                place.blocks[0], place.blocks[1], options.size, options.size, options.fields, options.steps);
    print_row("", totals);
    for (std::size_t rank = 0; options.by_rank && rank < ranks; ++rank) {
        std::string const label = "rank " + std::to_string(rank) + " ";
        print_row(label.c_str(), all.subspan(rank * each + 2, 3 * routine_count));
    }
    bool const right = error <= allowed_error;
    std::printf("time of the steps %.6f s\n", steps_s);
    std::printf("largest error %.2e (allowed: %.0e): %s\n", error, allowed_error, right ? "verified" : "WRONG");
    return right ? EXIT_SUCCESS : wrong_result;
}

int solve_all(Options const& options) {
    Grid const grid;
    Solver solver(grid, options);
    double const steps_s = solver.run();
    auto const all = solver.gather(steps_s);
    return grid.rank() == 0 ? report(options, grid.place(0), all, static_cast<std::size_t>(grid.ranks()))
                            : EXIT_SUCCESS;
}

}  // namespace
}  // namespace mesh

int main(int count, char** words) {
    MPI_Init(&count, &words);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::string problem;
    auto const options = mesh::read_options(std::span<char const* const>(words + 1, words + count), problem);
    int status = EXIT_SUCCESS;
    if (options && options->slow_rank >= ranks)
        problem = "there is no rank " + std::to_string(options->slow_rank) + "; try --slow-rank 0";
    if (!problem.empty()) {
        if (rank == 0) std::fprintf(stderr, "octant-mpi-mesh: %s\n", problem.c_str());
        status = mesh::wrong_word;
    } else if (options->help) {
        if (rank == 0) std::fputs(mesh::help_text().c_str(), stdout);
    } else {
        status = mesh::solve_all(*options);
    }
    MPI_Finalize();
    return status;
}
