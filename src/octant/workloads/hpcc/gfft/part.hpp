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

using octant::fft::Number;

// What both ways have in common: x and its transform in equal blocks, one rank behind the other.
struct Share {
    Share(octant::Context& of, octant::fft::Width const& width);  // throws octant::Refusal: not so many ranks

    octant::Context& context;
    std::int64_t n;
    int ranks, rank;
    octant::fft::Plan plan;
    bool streaming;
    octant::Buffer<double> scratch;

    [[nodiscard]] std::int64_t each() const { return n / ranks; }            // numbers of a rank
    [[nodiscard]] std::int64_t rows() const { return plan.rows() / ranks; }  // of the matrix, of a rank
    [[nodiscard]] std::int64_t columns() const { return plan.columns() / ranks; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(each()); }
};

enum Phase : std::size_t { pass_columns, pass_rows, exchange, copy };  // of a step, as info() names them

// Both passes read what other ranks stored; a barrier behind each.
class Shared {
  public:
    explicit Shared(Share& share);
    void set_up();
    [[nodiscard]] std::span<Number> x() const { return mine(*x_); }
    [[nodiscard]] std::span<Number> y() const { return mine(*y_); }
    void publish() const { x_->publish(share_.context.group); }  // what was stored to x
    void forward();
    [[nodiscard]] std::int64_t bytes_sent() const { return 0; }
    [[nodiscard]] std::int64_t messages() const { return 0; }

  private:
    static double* all(octant::NodeWindow const& window);  // numbers of all ranks, aligned to lines of the cache
    [[nodiscard]] std::span<Number> mine(octant::NodeWindow const& window) const;
    void columns(std::int64_t first, std::int64_t lines) const;
    void rows(std::int64_t first, std::int64_t lines) const;
    // Calls body(first, lines) for what this rank takes of `lines`: its block, or groups of whoever comes first.
    template <class Body>
    void each(std::int64_t lines, std::size_t counter, Body const& body) const;
    [[nodiscard]] std::int64_t& counter(std::size_t which) const;

    Share& share_;
    bool dynamic_;
    std::optional<octant::NodeWindow> x_, work_, y_, counters_;
};

// An exchange of a piece with every other rank, under way.
class Exchange {
  public:
    struct Pieces {
        Number const* send;  // to rank t: send + t * piece
        Number* receive;     // from rank s: receive + s * apart
        std::int64_t piece, apart;
        bool own = true;  // the rank's own piece is copied, too; else it is where it has to be
    };
    // `order`: the other ranks, in which messages are sent; empty: the library's own exchange.
    void start(octant::Comm const& group, std::vector<int> const& order, int tag, Pieces pieces);
    void test();  // lets the library go on
    void wait();

  private:
    std::vector<MPI_Request> requests_;
    std::vector<int> counts_, from_, to_;  // of the library's own, which reads them until it is done
};

// Three exchanges in chunks: while one chunk is transformed, those before and after it are under way.
class Messages {
  public:
    explicit Messages(Share& share);
    void set_up() {}
    [[nodiscard]] std::span<Number> x() const { return x_.span(); }
    [[nodiscard]] std::span<Number> y() const { return y_.span(); }
    void publish() const {}
    void forward();
    [[nodiscard]] std::int64_t bytes_sent() const;
    [[nodiscard]] std::int64_t messages() const;

  private:
    void pack(std::int64_t chunk);
    void columns(std::int64_t chunk);
    void rows(std::int64_t chunk);
    void unpack(std::int64_t chunk);
    void send_columns(std::int64_t chunk);
    void wait(Exchange& of);
    [[nodiscard]] Number* in_chunk(octant::Buffer<Number> const& of, std::int64_t chunk, std::int64_t size) const {
        return of.data() + chunk * size;
    }

    Share& share_;
    std::vector<int> order_;
    bool library_;
    std::int64_t width_, column_chunks_, height_, row_chunks_;  // columns and rows of a chunk, and how many chunks
    octant::Buffer<Number> x_, y_, a_, b_, c_;
    std::vector<Exchange> to_columns_, to_rows_, to_blocks_;
};

// The other ranks in the order in which `rank` of `ranks` sends to them. `schedule`: prime, ring, xor.
// Throws octant::Refusal: xor, but no power of two.
[[nodiscard]] std::vector<int> partners(std::string const& schedule, int rank, int ranks);

}  // namespace gfft
