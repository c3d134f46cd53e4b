// The factorisation, panel by panel, and the solution.
#pragma once

#include "exchange.hpp"
#include "layout.hpp"
#include "panel.hpp"

#include "blas/blas.hpp"
#include "octant/context.hpp"
#include "octant/node_window.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hpl {

enum Phase : std::size_t { in_panel, in_broadcast, in_swap, in_update, in_wait, in_solve };
[[nodiscard]] std::vector<std::string> phase_names();

struct Memory {  // of one process; the functions below give the sizes
    std::span<double> matrix, inverse, raw, solved, scratch;
    // For two panels: of each process of the row, by its column, where all reach them; else of this process.
    std::vector<std::span<double>> panels;
    octant::NodeWindow const* shared = nullptr;  // that they lie in
};

struct Needs {
    std::int64_t matrix, panels, inverse, raw, solved, scratch;  // numbers
    [[nodiscard]] double bytes() const {
        return 8.0 * static_cast<double>(matrix + panels + inverse + raw + solved + scratch);
    }
};
[[nodiscard]] Needs needs(Layout const& layout, int processes_of_a_column);

class Factors {
  public:
    Factors(octant::Context& context, Process const& process, octant::blas::Library const& library, Memory memory,
            bool look_ahead);

    // The matrix becomes L and U, each column's rows as they were when it was a panel; its last column is carried
    // along. Collective over all processes.
    void factorise();
    // Back substitution with U for the last column. All processes get all of x.
    [[nodiscard]] std::vector<double> solve();

    [[nodiscard]] std::vector<std::int64_t> const& pivots() const { return pivots_; }
    [[nodiscard]] Sent sent() const { return sent_; }  // by this process in the last factorisation

  private:
    [[nodiscard]] std::span<double> memory_of(std::int64_t first) const;
    void make(Panel& panel, std::int64_t first);
    void send(Panel const& panel);
    void receive(Panel const& panel);
    void update(Panel const& panel, Moves const& moves, std::int64_t begin, std::int64_t end);
    void invert(Panel const& panel);
    void multiply(Panel const& panel, std::int64_t begin, std::int64_t end);
    void store_pivots(Panel const& panel);
    struct Rows {
        double* first;
        std::int64_t leading;
    };
    [[nodiscard]] Rows raw(Panel const& panel, std::int64_t column) const;
    [[nodiscard]] Rows solved(Panel const& panel, std::int64_t column) const;
    void solve_block(std::int64_t first, std::span<double> rest, std::span<double> x);

    octant::Context& context_;
    Process const& process_;
    Layout const& layout_;
    octant::blas::Library const& library_;
    Memory memory_;
    bool look_ahead_;
    Transposition transpose_ = widest_transposition();
    Sent sent_;
    Exchange exchange_;
    PivotChoice choice_;
    MPI_Request sending_ = MPI_REQUEST_NULL;
    std::int64_t ready_ = -1;  // first column of the last panel that its process has announced
    std::vector<std::int64_t> pivots_;
};

}  // namespace hpl
