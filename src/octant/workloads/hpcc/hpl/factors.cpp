#include "factors.hpp"

#include "loops.hpp"

#include <algorithm>
#include <utility>

namespace hpl {
namespace {

namespace blas = octant::blas;

// Multiply-adds between two tests of a pending message: about 5 ms.
constexpr std::int64_t between_looks = 100'000'000;

constexpr int rows_at_once = 32;  // of U: fewer are slow, more multiply by more zeros of the triangle

}  // namespace

std::vector<std::string> phase_names() { return {"panel", "broadcast", "swap", "update", "wait", "solve"}; }

Needs needs(Layout const& layout, int processes_of_a_column) {
    std::int64_t const width = std::min(layout.block(), layout.n()), rows = width * padded(layout.local_columns);
    return {layout.local_rows * layout.leading,
            2 * Panel::max_numbers(layout),
            width * width,
            rows,
            processes_of_a_column > 1 ? rows : 0,
            Exchange::scratch_numbers(layout, processes_of_a_column)};
}

Factors::Factors(octant::Context& context, Process const& process, blas::Library const& library, Memory memory,
                 bool look_ahead)
    : context_(context),
      process_(process),
      layout_(process.layout),
      library_(library),
      memory_(std::move(memory)),
      look_ahead_(look_ahead && process.along_row.size() > 1),
      exchange_(layout_, process.along_column, memory_.scratch, sent_),
      choice_(layout_, process.along_column, sent_) {}

// If panels are shared, a process overwrites a panel with its next but one. No process reads the old panel any more:
// each of the others has factorised a panel since, and it does this after the update with the panel before.
std::span<double> Factors::memory_of(std::int64_t first) const {
    std::int64_t const number = first / layout_.block(), columns = layout_.columns.processes;
    bool const second = (memory_.shared ? number / columns : number) % 2 == 1;
    auto const of = memory_.panels[memory_.shared ? static_cast<std::size_t>(number % columns) : 0];
    return second ? of.last(of.size() / 2) : of.first(of.size() / 2);
}

// The column of the panel on the diagonal belongs to one column of processes; the others only take part in the
// broadcast that follows.
void Factors::make(Panel& panel, std::int64_t first) {
    panel.start(first, memory_of(first));
    if (!layout_.has_column(first)) return;
    auto const mark = context_.phase(in_panel);
    load(panel, layout_, transpose_, memory_.matrix.data());
    hpl::factorise(panel, library_, layout_, choice_);
    store(panel, layout_, transpose_, memory_.matrix.data());
}

void Factors::send(Panel const& panel) {
    if (process_.along_row.size() == 1) return;
    auto const mark = context_.phase(in_broadcast);
    auto const message = panel.message();
    if (layout_.has_column(panel.first()))
        sent_.add(process_.along_row.size() - 1, memory_.shared ? 1 : static_cast<std::int64_t>(message.size()));
    if (memory_.shared) {
        ready_ = panel.first();
        memory_.shared->sync();
        octant::check(MPI_Ibcast(&ready_, 1, MPI_INT64_T, layout_.columns.owner(panel.first()),
                                 process_.along_row.get(), &sending_));
        return;
    }
    octant::check(MPI_Ibcast(message.data(), static_cast<int>(message.size()), MPI_DOUBLE,
                             layout_.columns.owner(panel.first()), process_.along_row.get(), &sending_));
}

void Factors::receive(Panel const& panel) {
    if (process_.along_row.size() > 1) {
        auto const mark = context_.phase(in_wait);
        octant::check(MPI_Wait(&sending_, MPI_STATUS_IGNORE));
        if (memory_.shared) memory_.shared->sync();
    }
    store_pivots(panel);
}

void Factors::store_pivots(Panel const& panel) {
    for (int i = 0; i < panel.width(); ++i) pivots_.push_back(panel.pivot(i));
}

// Rows that became those of U, before and after they are solved for. The process that has the block on the diagonal
// solves into the matrix.
Factors::Rows Factors::raw(Panel const& panel, std::int64_t column) const {
    std::int64_t const first = layout_.first_column(panel.first() + panel.width());
    return {memory_.raw.data() + column - first, padded(std::max<std::int64_t>(1, layout_.local_columns - first))};
}

Factors::Rows Factors::solved(Panel const& panel, std::int64_t column) const {
    if (panel.top_rows() > 0)
        return {memory_.matrix.data() + layout_.rows.local(panel.first()) * layout_.leading + column, layout_.leading};
    Rows const alike = raw(panel, column);
    return {memory_.solved.data() + (alike.first - memory_.raw.data()), alike.leading};
}

// Of the block on the diagonal, L: products with its inverse are more than twice as fast as triangular solutions, and
// as precise, since no multiplier exceeds 1.
void Factors::invert(Panel const& panel) {
    auto const mark = context_.phase(in_update);
    invert_unit_lower(panel.width(), panel.diagonal(), memory_.inverse.data());
}

// Updates the local columns [begin, end), which are to the right of the panel.
void Factors::update(Panel const& panel, Moves const& moves, std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    Rows const from = raw(panel, begin), to = solved(panel, begin);
    {
        auto const mark = context_.phase(in_swap);
        exchange_.move(panel, moves, begin, end, memory_.matrix.data(), from.first, from.leading);
    }
    auto const mark = context_.phase(in_update);
    int const width = panel.width();
    for (int row = 0; row < width; row += rows_at_once) {
        int const rows = std::min(rows_at_once, width - row);
        library_.dgemm(blas::row_major, blas::transposed, blas::as_is, rows, static_cast<int>(end - begin), row + rows,
                       1, memory_.inverse.data() + row, width, from.first, static_cast<int>(from.leading), 0,
                       to.first + row * to.leading, static_cast<int>(to.leading));
    }
    multiply(panel, begin, end);
}

// In parts while the next panel is under way, since most libraries move messages only when they are called; word of a
// shared one comes to a single other process without that.
void Factors::multiply(Panel const& panel, std::int64_t begin, std::int64_t end) {
    std::int64_t const first = layout_.first_row(panel.first()) + panel.top_rows();
    Rows const u = solved(panel, begin);
    bool const alone = sending_ == MPI_REQUEST_NULL || (memory_.shared && process_.along_row.size() == 2);
    std::int64_t const part =
        alone ? layout_.local_rows : std::max<std::int64_t>(64, between_looks / (panel.width() * (end - begin)));
    for (std::int64_t row = first; row < layout_.local_rows; row += part) {
        std::int64_t const rows = std::min(part, layout_.local_rows - row);
        library_.dgemm(blas::row_major, blas::transposed, blas::as_is, static_cast<int>(rows),
                       static_cast<int>(end - begin), panel.width(), -1,
                       panel.below() + row - layout_.first_row(panel.first()), static_cast<int>(panel.leading()),
                       u.first, static_cast<int>(u.leading), 1, memory_.matrix.data() + row * layout_.leading + begin,
                       static_cast<int>(layout_.leading));
        int done = 0;
        if (!alone) octant::check(MPI_Test(&sending_, &done, MPI_STATUS_IGNORE));
    }
}

void Factors::factorise() {
    std::int64_t const n = layout_.n();
    Panel now(layout_), next(layout_);
    pivots_.clear();
    sent_ = {};
    make(now, 0);
    send(now);
    while (true) {
        receive(now);
        invert(now);
        Moves const moves(now);
        std::int64_t const after = now.first() + now.width();
        std::int64_t begin = layout_.first_column(after);
        bool const more = after < n;
        if (more && look_ahead_) {
            std::int64_t const end = layout_.first_column(std::min(n, after + layout_.block()));
            update(now, moves, begin, end);
            begin = end;
            make(next, after);
            send(next);
        }
        update(now, moves, begin, layout_.local_columns);
        if (!more) return;
        if (!look_ahead_) {
            make(next, after);
            send(next);
        }
        double const left = static_cast<double>(n - after) / static_cast<double>(n);
        context_.progress(1 - left * left * left);
        std::swap(now, next);
    }
}

// Block by block from below. A process of a column of the grid has subtracted what the unknowns of its own columns
// contribute; the process with the block on the diagonal gets the sum over its row, and its column gets the unknowns.
void Factors::solve_block(std::int64_t first, std::span<double> rest, std::span<double> x) {
    std::int64_t const width = std::min(layout_.block(), layout_.n() - first);
    int const column = layout_.columns.owner(first), top = layout_.rows.owner(first);
    double* const unknown = x.data() + first;
    double const* const matrix = memory_.matrix.data();
    std::int64_t const local_row = layout_.first_row(first), local_column = layout_.first_column(first);
    if (layout_.row == top)
        octant::check(MPI_Reduce(rest.data() + local_row, unknown, static_cast<int>(width), MPI_DOUBLE, MPI_SUM, column,
                                 process_.along_row.get()));
    if (layout_.column != column) {
        std::fill_n(unknown, width, 0.0);
        return;
    }
    if (layout_.row == top)
        for (std::int64_t i = width - 1; i >= 0; --i) {
            double const* const row = matrix + (local_row + i) * layout_.leading + local_column;
            unknown[i] = (unknown[i] - dot(width - 1 - i, row + i + 1, unknown + i + 1)) / row[i];
        }
    octant::check(MPI_Bcast(unknown, static_cast<int>(width), MPI_DOUBLE, top, process_.along_column.get()));
    subtract_products(local_row, width, matrix + local_column, layout_.leading, unknown, rest.data());
}

std::vector<double> Factors::solve() {
    auto const mark = context_.phase(in_solve);
    std::int64_t const n = layout_.n();
    std::vector<double> x(static_cast<std::size_t>(n), 0.0), all(x.size());
    std::vector<double> rest(static_cast<std::size_t>(layout_.local_rows), 0.0);
    if (layout_.has_column(n))
        for (std::int64_t i = 0; i < layout_.local_rows; ++i)
            rest[static_cast<std::size_t>(i)] =
                memory_.matrix[static_cast<std::size_t>(i * layout_.leading + layout_.local_columns - 1)];
    for (std::int64_t first = (n - 1) / layout_.block() * layout_.block(); first >= 0; first -= layout_.block())
        solve_block(first, rest, x);
    octant::check(
        MPI_Allreduce(x.data(), all.data(), static_cast<int>(n), MPI_DOUBLE, MPI_SUM, process_.along_row.get()));
    return all;
}

}  // namespace hpl
