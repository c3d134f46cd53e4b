// One rank's part of a transform of all ranks, by memory that they share or by messages.
#pragma once

#include "kernels/fft/plan.hpp"
#include "kernels/fft/reference.hpp"
#include "octant/context.hpp"
#include "octant/node_window.hpp"

#include <optional>
#include <span>
#include <vector>

namespace gfft {

using octant::fft::doubles;
using octant::fft::Number;

// Lines of a side of the matrix in contiguous blocks, whose boundaries are multiples of `unit` lines.
class Split {
  public:
    Split(std::int64_t lines, std::int64_t blocks, std::int64_t unit)
        : units_(lines / unit), blocks_(blocks), unit_(unit) {}
    [[nodiscard]] std::int64_t first(std::int64_t block) const { return unit_ * (units_ * block / blocks_); }
    [[nodiscard]] std::int64_t unit() const { return unit_; }
    [[nodiscard]] bool whole() const { return unit_ % octant::fft::max_lanes == 0; }  // blocks of whole vectors
    [[nodiscard]] std::int64_t size(std::int64_t block) const { return first(block + 1) - first(block); }

  private:
    std::int64_t units_, blocks_, unit_;
};

// What all ways have in common: the matrix, whose rows x and the columns of whose transform ranks have in blocks.
struct Share {
    Share(octant::Context& of, octant::fft::Width const& width);  // throws octant::Refusal: too few lines

    octant::Context& context;
    std::int64_t n;
    int ranks, rank;
    octant::fft::Plan plan;
    Split rows, columns;  // of ranks
    bool streaming;
    octant::Buffer<double> scratch;

    // Of this rank: where its numbers of x and of the transform begin, and how many there are.
    [[nodiscard]] std::int64_t first_in() const { return rows.first(rank) * plan.columns(); }
    [[nodiscard]] std::int64_t first_out() const { return columns.first(rank) * plan.rows(); }
    [[nodiscard]] std::size_t in() const { return static_cast<std::size_t>(rows.size(rank) * plan.columns()); }
    [[nodiscard]] std::size_t out() const { return static_cast<std::size_t>(columns.size(rank) * plan.rows()); }
};

enum Phase : std::size_t { pass_columns, pass_rows, exchange, copy };  // of a step, as info() names them

// Both passes read what other ranks stored; a barrier behind each.
class Shared {
  public:
    explicit Shared(Share& share);
    void set_up();
    [[nodiscard]] std::span<Number> x() const { return {all(*x_) + share_.first_in(), share_.in()}; }
    [[nodiscard]] std::span<Number> y() const { return {all(*y_) + share_.first_out(), share_.out()}; }
    void publish() const { x_->publish(share_.context.group); }  // what was stored to x
    void forward();
    [[nodiscard]] std::int64_t bytes_sent() const { return 0; }
    [[nodiscard]] std::int64_t messages() const { return 0; }

  private:
    static Number* all(octant::NodeWindow const& window);  // numbers of all ranks, aligned to lines of the cache
    void columns(std::int64_t first, std::int64_t lines) const;
    void rows(std::int64_t first, std::int64_t lines) const;
    // Calls body(first, lines) for the lines of this rank: its block, or groups of lines on a first-come basis.
    template <class Body>
    void each(Split const& lines, std::size_t counter, Body const& body) const;
    [[nodiscard]] std::int64_t& counter(std::size_t which) const;

    Share& share_;
    bool dynamic_;
    std::optional<octant::NodeWindow> x_, work_, y_, counters_;
};

}  // namespace gfft
