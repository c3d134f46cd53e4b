#include "panel.hpp"

#include "loops.hpp"

#include "octant/vector.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace hpl {
namespace {

namespace blas = octant::blas;

constexpr int base_width = 8;  // columns that are eliminated one after the other

// In what the reduction of a choice is about: the magnitude, the row, whether the current row is known, and both rows.
constexpr int magnitude_at = 0, row_at = 1, known_at = 2, rows_at = 3;

// Compares the bits, as in `eliminate`: NaN has an order, too, so that all processes select the same row.
std::uint64_t magnitude_of(double number) { return std::bit_cast<std::uint64_t>(number) & ~(std::uint64_t{1} << 63U); }

void reduce_to_larger_pivot(void* in, void* best, int* length, MPI_Datatype* type) {
    MPI_Aint least = 0, extent = 0;
    MPI_Type_get_extent(*type, &least, &extent);
    auto const numbers = static_cast<std::ptrdiff_t>(extent) / static_cast<std::ptrdiff_t>(sizeof(double));
    std::ptrdiff_t const width = (numbers - rows_at) / 2;
    for (int i = 0; i < *length; ++i) {
        double const* const a = static_cast<double const*>(in) + i * numbers;
        double* const b = static_cast<double*>(best) + i * numbers;
        std::uint64_t const mine = magnitude_of(a[magnitude_at]), largest = magnitude_of(b[magnitude_at]);
        if (mine > largest || (mine == largest && a[row_at] < b[row_at])) {
            b[magnitude_at] = a[magnitude_at];
            b[row_at] = a[row_at];
            std::copy_n(a + rows_at, width, b + rows_at);
        }
        if (a[known_at] > b[known_at]) {
            b[known_at] = a[known_at];
            std::copy_n(a + rows_at + width, width, b + rows_at + width);
        }
    }
}

class Factorisation {
  public:
    Factorisation(Panel const& panel, blas::Library const& library, Layout const& layout, PivotChoice& choice)
        : panel_(panel), library_(library), layout_(layout), choice_(choice), width_(panel.width()) {}

    void columns(int first, int count) {
        if (count <= base_width) {
            for (int column = first; column < first + count; ++column) eliminate_column(first, count, column);
            if (choice_.alone()) swap_other_columns(first, count);
            return;
        }
        int const half = (count / 2 + base_width - 1) / base_width * base_width, rest = count - half;
        columns(first, half);
        double* const right = panel_.diagonal() + first + std::int64_t{first + half} * width_;
        library_.dtrsm(blas::column_major, blas::left, blas::lower, blas::as_is, blas::unit_diagonal, half, rest, 1,
                       panel_.diagonal() + first + std::int64_t{first} * width_, width_, right, width_);
        std::int64_t const begin = active(first + half), rows = panel_.rows() - begin;
        int const leading = static_cast<int>(panel_.leading());
        if (rows > 0)
            library_.dgemm(blas::column_major, blas::as_is, blas::as_is, static_cast<int>(rows), rest, half, -1,
                           below(first) + begin, leading, right, width_, 1, below(first + half) + begin, leading);
        columns(first + half, rest);
    }

  private:
    // The first local row that no pivot of the columns before this one has taken.
    [[nodiscard]] std::int64_t active(int column) const { return panel_.top_rows() > 0 ? column : 0; }
    [[nodiscard]] double* below(int column) const { return panel_.below() + column * panel_.leading(); }

    // What the columns of the base before it do to the column is left until here: it is written once.
    void eliminate_column(int first, int count, int column) {
        double* const u = panel_.diagonal() + std::int64_t{column} * width_;
        for (int i = first; i < column; ++i)
            for (int row = i + 1; row < column; ++row)
                u[row] -= panel_.diagonal()[row + std::int64_t{i} * width_] * u[i];
        std::int64_t const begin = active(column);
        Largest const mine = eliminate(panel_.rows() - begin, column - first, below(first) + begin, panel_.leading(),
                                       u + first, below(column) + begin);
        if (choice_.alone())
            interchange(first, count, column, mine.place + begin);
        else
            exchange(column, mine, begin);
        std::int64_t const next = active(column + 1);
        scale(panel_.rows() - next, 1 / u[column], below(column) + next);
    }

    // Within the base alone; the other columns follow when it is done, each at once while it is in cache.
    void interchange(int first, int count, int column, std::int64_t pivot) {
        panel_.pivots()[column] = static_cast<double>(panel_.first() + pivot);
        for (int i = first; i < first + count; ++i) move_to_top(i, column, pivot);
    }

    void swap_other_columns(int first, int count) {
        for (int i = 0; i < width_; ++i) {
            if (i >= first && i < first + count) continue;
            for (int row = first; row < first + count; ++row) move_to_top(i, row, panel_.pivot(row) - panel_.first());
        }
    }

    void move_to_top(int column, int row, std::int64_t pivot) {
        std::swap(below(column)[row], below(column)[pivot]);
        panel_.diagonal()[row + std::int64_t{column} * width_] = below(column)[row];
    }

    void exchange(int column, Largest mine, std::int64_t begin) {
        auto const found = choice_.choose(panel_, column, mine.value, mine.place < 0 ? -1 : mine.place + begin);
        panel_.pivots()[column] = static_cast<double>(found.row);
        for (int i = 0; i < width_; ++i)
            panel_.diagonal()[column + std::int64_t{i} * width_] = found.pivot[static_cast<std::size_t>(i)];
        if (found.row == panel_.first() + column || !layout_.has_row(found.row)) return;
        double* const hole = panel_.below() + layout_.rows.local(found.row) - layout_.first_row(panel_.first());
        for (int i = 0; i < width_; ++i) hole[i * panel_.leading()] = found.current[static_cast<std::size_t>(i)];
    }

    Panel const& panel_;
    blas::Library const& library_;
    Layout const& layout_;
    PivotChoice& choice_;
    int width_;
};

}  // namespace

std::int64_t Panel::max_numbers(Layout const& layout) {
    std::int64_t const width = (std::min(layout.block(), layout.n()) + 7) / 8 * 8;
    return width + width * width + width * padded(layout.local_rows);
}

void Panel::start(std::int64_t first, std::span<double> memory) {
    memory_ = memory;
    first_ = first;
    width_ = static_cast<int>(std::min(layout_->block(), layout_->n() - first));
    rows_ = layout_->local_rows - layout_->first_row(first);
    top_rows_ = layout_->has_row(first) ? width_ : 0;
    leading_ = padded(std::max<std::int64_t>(1, rows_));
}

std::span<double> Panel::message() const {
    return memory_.first(static_cast<std::size_t>(below() - memory_.data() + leading_ * width_));
}

PivotChoice::PivotChoice(Layout const& layout, octant::Comm const& along_column, Sent& sent)
    : layout_(layout),
      along_column_(along_column),
      sent_(sent),
      in_(static_cast<std::size_t>(rows_at + 2 * layout.block())),
      out_(in_.size()) {
    octant::check(MPI_Op_create(reduce_to_larger_pivot, 1, &op_));
}

PivotChoice::~PivotChoice() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
    MPI_Op_free(&op_);
}

MPI_Datatype PivotChoice::type_of(int width) {
    if (width == width_of_type_) return type_;
    if (type_ != MPI_DATATYPE_NULL) octant::check(MPI_Type_free(&type_));
    octant::check(MPI_Type_contiguous(rows_at + 2 * width, MPI_DOUBLE, &type_));
    octant::check(MPI_Type_commit(&type_));
    width_of_type_ = width;
    return type_;
}

PivotChoice::Found PivotChoice::choose(Panel const& panel, int column, double magnitude, std::int64_t mine) {
    int const width = panel.width();
    auto const copy = [&](std::int64_t row, double* to) {
        for (int i = 0; i < width; ++i) to[i] = panel.below()[row + i * panel.leading()];
    };
    bool const has_current = panel.top_rows() > 0;
    in_[magnitude_at] = mine < 0 ? 0 : magnitude;  // with the row n, behind all others, where there is none
    in_[row_at] = mine < 0
                      ? static_cast<double>(layout_.n())
                      : static_cast<double>(layout_.rows.global(layout_.first_row(panel.first()) + mine, layout_.row));
    in_[known_at] = has_current ? 1 : 0;
    if (mine >= 0) copy(mine, in_.data() + rows_at);
    if (has_current) copy(column, in_.data() + rows_at + width);
    double* found = in_.data();
    if (along_column_.size() > 1) {
        octant::check(MPI_Allreduce(in_.data(), out_.data(), 1, type_of(width), op_, along_column_.get()));
        sent_.add(std::bit_width(static_cast<unsigned>(along_column_.size() - 1)), rows_at + 2 * width);
        found = out_.data();
    }
    auto const count = static_cast<std::size_t>(width);
    return {static_cast<std::int64_t>(found[row_at]), {found + rows_at, count}, {found + rows_at + width, count}};
}

void factorise(Panel const& panel, octant::blas::Library const& library, Layout const& layout, PivotChoice& choice) {
    Factorisation(panel, library, layout, choice).columns(0, panel.width());
}

Transposition widest_transposition() {
    if constexpr (octant::x86) {
        if (octant::has_avx512()) return transposition_512();
        if (octant::has_avx2()) return transposition_256();
    }
    return transposition_128();
}

void load(Panel const& panel, Layout const& layout, Transposition transpose, double const* matrix) {
    double const* const from =
        matrix + layout.first_row(panel.first()) * layout.leading + layout.first_column(panel.first());
    to_columns(transpose, panel.rows(), panel.width(), from, layout.leading, panel.below(), panel.leading());
}

void store(Panel const& panel, Layout const& layout, Transposition transpose, double* matrix) {
    double* const to = matrix + layout.first_row(panel.first()) * layout.leading + layout.first_column(panel.first());
    std::int64_t const top = panel.top_rows();
    to_rows(transpose, top, panel.width(), panel.diagonal(), panel.width(), to, layout.leading);
    to_rows(transpose, panel.rows() - top, panel.width(), panel.below() + top, panel.leading(),
            to + top * layout.leading, layout.leading);
}

}  // namespace hpl
