// pattern=transposed: a matrix of each thread is transposed in square tiles, each row of which is a stream of reads.
#include "arrays.hpp"
#include "reads.hpp"
#include "rows.hpp"

#include "kernels/worst.hpp"

#include <cmath>

namespace stream {
namespace {

using octant::Context;

class TransposedTiles {
  public:
    static octant::KernelInfo info() { return {.knobs = knobs()}; }

    explicit TransposedTiles(Context& context)
        : context_(context),
          edge_(context.knobs.integer("tile")),
          ahead_(doubles(context, "prefetch")),
          loop_(transposed_tiles(ahead_ > 0)),
          n_(order()),
          pitch_((n_ / line + 1) / 2 * 2 * line + line),  // an odd number of lines: rows lie in different sets
          a_(context, context.threads, n_ * pitch_, 0, Guards::lines),
          b_(context, context.threads, n_ * pitch_, 0, Guards::none),
          lanes_(static_cast<std::size_t>(context.threads)) {
        context.on_each_thread([&](int lane) {
            clear(lane);
            for (std::ptrdiff_t i = 0; i < n_ * pitch_; ++i) b_.part(lane)[i] = b_at(index(lane, i));
        });
        context.notes.emplace_back("n", std::to_string(n_));
        context.note_rounded(context.knobs.integer("bytes"), 16 * n_ * n_ * context.threads);
    }

    // A band of rows.
    void chunk(int lane, std::int64_t) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        loop_(a_.part(lane) + mine.next, b_.part(lane) + mine.next * pitch_, {edge_, n_, pitch_}, ahead_);
        mine.next = mine.next + edge_ < n_ ? mine.next + edge_ : 0;
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        std::ptrdiff_t const bytes = 8 * edge_ * n_;
        return {{"bytes_read", bytes}, {"bytes_written", bytes}, {"bytes_allocated", bytes}};
    }

    octant::Results verify() {
        if (!corrupted_) recompute(n_);
        std::vector<double> wrong(lanes_.size(), 0.0), outside(lanes_.size(), 0.0);
        context_.on_each_thread([&](int lane) {
            auto const l = static_cast<std::size_t>(lane);
            for (std::ptrdiff_t row = 0; row < n_; ++row)
                for (std::ptrdiff_t column = 0; column < pitch_; ++column) {
                    double const found = a_.part(lane)[row * pitch_ + column];
                    if (column < n_)
                        wrong[l] += found == b_at(index(lane, column * pitch_ + row)) ? 0 : 1;
                    else
                        outside[l] += found == -1 ? 0 : 1;
                }
            outside[l] += a_.guards_written(lane);
        });
        double all_wrong = 0, all_outside = 0;
        for (double const one : wrong) all_wrong += one;
        for (double const one : outside) all_outside += one;
        return {{"elements that are not transposed", all_wrong, "1", 0},
                {"elements written outside of the results", all_outside, "1", 0}};
    }
    void corrupt(std::size_t check) {  // the last tile of each band is left out, or the last row has one too many
        recompute(check == 0 ? n_ - edge_ : n_);
        if (check == 1) a_.part(0)[n_] = b_.part(0)[n_ * pitch_ - pitch_];
        corrupted_ = true;
    }

  private:
    struct alignas(64) Lane {
        std::ptrdiff_t next = 0;
    };

    [[nodiscard]] std::ptrdiff_t order() const {  // whole tiles
        std::ptrdiff_t const bytes = context_.knobs.integer("bytes") / context_.threads;
        require_bytes(context_, bytes, 16 * edge_ * edge_, "tile=" + std::to_string(edge_));
        return static_cast<std::ptrdiff_t>(std::sqrt(static_cast<double>(bytes) / 16)) / edge_ * edge_;
    }
    [[nodiscard]] std::size_t index(int lane, std::ptrdiff_t i) const {
        return static_cast<std::size_t>(lane * n_ * pitch_ + i);
    }
    void clear(int lane) const {
        for (std::ptrdiff_t i = 0; i < n_ * pitch_; ++i) a_.part(lane)[i] = -1;
        a_.guard_part(lane);
    }
    void recompute(std::ptrdiff_t columns) {
        context_.on_each_thread([&](int lane) {
            clear(lane);
            for (std::ptrdiff_t row = 0; row < n_; row += edge_)
                loop_(a_.part(lane) + row, b_.part(lane) + row * pitch_, {edge_, columns, pitch_}, ahead_);
        });
    }

    Context& context_;
    std::ptrdiff_t edge_, ahead_;
    Transposed loop_;
    std::ptrdiff_t n_, pitch_;
    Array a_, b_;
    std::vector<Lane> lanes_;
    bool corrupted_ = false;
};

}  // namespace

octant::Row transposed_row() { return octant::row<TransposedTiles>("transposed"); }

}  // namespace stream
