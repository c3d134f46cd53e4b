// pattern=strided: a load every so many bytes. A pass over the array begins a line after the one before, so that all
// of the array is used.
#include "arrays.hpp"
#include "reads.hpp"
#include "rows.hpp"

#include "kernels/worst.hpp"

#include <algorithm>

namespace stream {
namespace {

using octant::Context;

constexpr std::ptrdiff_t block = 8;          // loads that pieces are multiples of
constexpr std::ptrdiff_t max_piece = 65536;  // loads of a chunk
constexpr std::int64_t max_passes = 16;      // that are checked

class StridedLoads {
  public:
    static octant::KernelInfo info() { return {.knobs = knobs()}; }

    explicit StridedLoads(Context& context)
        : context_(context),
          stride_(doubles(context, "stride")),
          ahead_(doubles(context, "prefetch")),
          loop_(strided_loads(ahead_ > 0)),
          pieces_((loads(context) - 1) / max_piece + 1),
          piece_(loads(context) / pieces_ / block * block),
          b_(context, context.threads, pieces_ * piece_ * stride_, 0, Guards::none),
          lanes_(static_cast<std::size_t>(context.threads)) {
        context.on_each_thread([&](int lane) {
            for (std::ptrdiff_t i = 0; i < length(); ++i) b_.part(lane)[i] = b_at(index(lane, i));
        });
        context.note_rounded(context.knobs.integer("bytes"), 8 * length() * context.threads);
    }

    void chunk(int lane, std::int64_t) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        mine.sum = loop_(b_.part(lane) + start(mine.pass) + mine.piece * piece_ * stride_, stride_, piece_, ahead_);
        if (++mine.piece == pieces_) mine.piece = 0, ++mine.pass;
    }

    // The lines that are touched come whole.
    [[nodiscard]] octant::Counts work(std::size_t) const {
        std::ptrdiff_t const lines = std::min(piece_, (piece_ * stride_ + line - 1) / line);
        return counts_of_loads(piece_, lines, 8);
    }

    octant::Results verify() {
        if (!corrupted_) recompute(piece_);
        return worst_sum(lanes_, "largest difference from the plain sum");
    }
    void corrupt(std::size_t) {  // the last loads of each piece are left out
        recompute(piece_ - block);
        corrupted_ = true;
    }

  private:
    struct alignas(64) Lane {
        std::int64_t pass = 0;
        std::ptrdiff_t piece = 0;
        double sum = 0;
        double sum_error = 0;
    };

    [[nodiscard]] std::ptrdiff_t loads(Context const& context) const {  // of a pass
        std::ptrdiff_t const bytes = context.knobs.integer("bytes") / context.threads;
        require_bytes(context, bytes, 8 * block * stride_, "stride=" + context.knobs.values().at("stride"));
        return bytes / 8 / stride_;
    }
    [[nodiscard]] std::ptrdiff_t length() const { return pieces_ * piece_ * stride_; }
    [[nodiscard]] std::size_t index(int lane, std::ptrdiff_t i) const {
        return static_cast<std::size_t>(lane * length() + i);
    }
    // Line after line of a stride, then the next double of each.
    [[nodiscard]] std::ptrdiff_t start(std::int64_t pass) const {
        std::ptrdiff_t const lines = (stride_ + line - 1) / line;
        return (pass * line + pass / lines) % stride_;
    }

    void recompute(std::ptrdiff_t loads) {
        context_.on_each_thread([&](int lane) {
            Lane& mine = lanes_[static_cast<std::size_t>(lane)];
            mine.sum_error = 0;
            for (std::int64_t pass = 0; pass < std::min<std::int64_t>(stride_, max_passes); ++pass)
                for (std::ptrdiff_t piece = 0; piece < pieces_; ++piece) {
                    std::ptrdiff_t const from = start(pass) + piece * piece_ * stride_;
                    double expected = 0;
                    for (std::ptrdiff_t i = 0; i < piece_; ++i) expected += b_at(index(lane, from + i * stride_));
                    double const sum = loop_(b_.part(lane) + from, stride_, loads, ahead_);
                    octant::keep_worst(mine.sum_error, std::abs(sum - expected));
                }
        });
    }

    Context& context_;
    std::ptrdiff_t stride_, ahead_;
    Strided loop_;
    std::ptrdiff_t pieces_, piece_;
    Array b_;
    std::vector<Lane> lanes_;
    bool corrupted_ = false;
};

}  // namespace

octant::Row strided_row() { return octant::row<StridedLoads>("strided"); }

}  // namespace stream
