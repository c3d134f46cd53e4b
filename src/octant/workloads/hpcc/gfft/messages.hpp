// A transform by messages with the ranks out of reach. Three exchanges in chunks: of columns to who transforms them, of
// these to who has the row, and of rows of the transform. What is within reach is loaded by the passes where it lies,
// and stored by them where it belongs.
#pragma once

#include "exchange.hpp"
#include "reach.hpp"

namespace gfft {

class Messages {
  public:
    // `of_node`: all ranks of the node are within reach, or a team of them; else only the rank itself.
    Messages(Share& share, bool of_node);
    void set_up();
    [[nodiscard]] std::span<Number> x() const { return {reach_.mine().x, share_.in()}; }
    [[nodiscard]] std::span<Number> y() const { return {reach_.mine().y, share_.out()}; }
    void publish() const { reach_.synchronise(); }
    void forward();
    [[nodiscard]] std::int64_t bytes_sent() const;
    [[nodiscard]] std::int64_t messages() const;

  private:
    using At = std::int64_t;
    enum Which : std::size_t { to_columns, to_rows, to_blocks, exchanges };

    // Lines of a chunk of a rank's block.
    struct Part {
        At first, size;
    };
    [[nodiscard]] Part columns_of(int rank, At chunk) const {
        return part(share_.columns, rank, chunk, column_chunks_);
    }
    [[nodiscard]] Part rows_of(int rank, At chunk) const { return part(share_.rows, rank, chunk, row_chunks_); }
    static Part part(Split const& of, int rank, At chunk, At chunks);

    [[nodiscard]] At chunks_of(Split const& lines, At length) const;
    void plan_exchanges();
    void make_slots();
    Parcels parcels(auto const& numbers_of) const;  // contiguous
    Exchange& under_way(Which which, At chunk) { return exchanges_[which][static_cast<std::size_t>(chunk)]; }
    [[nodiscard]] Number* slot(At chunk) const;
    void start_columns(At chunk);
    void pack(At chunk);
    void columns(At chunk);
    void rows(At chunk);
    void unpack(At chunk);
    void send(Which which, At chunk);
    void expect(Which which, At chunk);
    void wait(Which which, At chunk);
    void synchronise() const;

    Share& share_;
    Reach reach_;
    std::vector<int> order_;
    bool library_;
    At column_chunks_, row_chunks_;
    std::vector<Exchange> exchanges_[exchanges];
    std::optional<octant::Buffer<Number>> slots_;
    At slot_ = 0, after_first_ = 0, after_second_ = 0;  // numbers of a slot; where in it what comes and goes begins
    std::vector<double const*> from_;
    std::vector<double*> to_;
    std::vector<octant::fft::Piece> pieces_, rows_;
};

}  // namespace gfft
