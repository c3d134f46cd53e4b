// pattern=streams: one thread reads several streams, alternating between them after each cache line.
#include "arrays.hpp"
#include "rows.hpp"

#include "kernels/worst.hpp"

#include <algorithm>
#include <array>

namespace stream {
namespace {

using octant::Context;

constexpr std::ptrdiff_t block = 64;          // doubles that the parts of a stream are multiples of
constexpr std::ptrdiff_t max_piece = 65536;   // doubles of a chunk
constexpr std::ptrdiff_t stagger = 3 * line;  // a power of two between streams would measure conflicts of sets

class ReadStreams {
  public:
    static octant::KernelInfo info() { return {.knobs = knobs()}; }

    explicit ReadStreams(Context& context)
        : context_(context),
          streams_(context.knobs.integer("streams")),
          ahead_(doubles(context, "prefetch")),
          width_(octant::chosen_width(widths(), context.knobs.word("width"))),
          loop_(loop()),
          pieces_((elements() - 1) / (max_piece / streams_) + 1),
          piece_(elements() / pieces_ / block * block),
          pitch_(pieces_ * piece_ + stagger),
          b_(context, context.threads, streams_ * pitch_, 0, Guards::none),
          lanes_(static_cast<std::size_t>(context.threads)) {
        context.on_each_thread([&](int lane) {
            for (std::ptrdiff_t i = 0; i < streams_ * pitch_; ++i) b_.part(lane)[i] = b_at(index(lane, i));
        });
        context.notes.emplace_back("width", width_.name);
        context.note_rounded(context.knobs.integer("bytes"), 8 * pieces_ * piece_ * streams_ * context.threads);
    }

    void chunk(int lane, std::int64_t) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        loop_(b_.part(lane) + mine.next, pitch_, streams_, piece_, ahead_, mine.sums.data());
        mine.next = mine.next + piece_ < pieces_ * piece_ ? mine.next + piece_ : 0;
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {{"bytes_read", 8 * piece_ * streams_}, {"flops", piece_ * streams_}};
    }

    // The sum of each stream, or of those that share one.
    octant::Results verify() {
        if (!corrupted_) recompute(pitch_, piece_);
        return worst_sum(lanes_, "largest difference from the plain sum of a stream");
    }
    void corrupt(std::size_t) {  // each stream begins too early, where the one before reads; one alone ends too early
        if (streams_ == 1)
            recompute(pitch_, piece_ - block);
        else
            recompute(pitch_ - piece_, piece_);
        corrupted_ = true;
    }

  private:
    struct alignas(64) Lane {
        std::ptrdiff_t next = 0;
        std::array<double, in_registers> sums{};
        double sum_error = 0;
    };

    [[nodiscard]] Streams loop() const {
        std::size_t const asks = ahead_ > 0 ? 1 : 0;
        return streams_ <= in_registers ? width_.loops.few[asks][streams_ - 1]
                                        : width_.loops.many[asks][streams_ % in_registers];
    }
    [[nodiscard]] std::ptrdiff_t elements() const {  // of a stream
        std::ptrdiff_t const bytes = context_.knobs.integer("bytes") / context_.threads;
        require_bytes(context_, bytes, 8 * block * streams_, "streams=" + std::to_string(streams_));
        return bytes / 8 / streams_;
    }
    [[nodiscard]] std::size_t index(int lane, std::ptrdiff_t i) const {
        return static_cast<std::size_t>(lane * streams_ * pitch_ + i);
    }

    void recompute(std::ptrdiff_t pitch, std::ptrdiff_t n) {
        context_.on_each_thread([&](int lane) {
            Lane& mine = lanes_[static_cast<std::size_t>(lane)];
            mine.sum_error = 0;
            for (std::ptrdiff_t at = 0; at < pieces_ * piece_; at += piece_) {
                loop_(b_.part(lane) + at, pitch, streams_, n, ahead_, mine.sums.data());
                for (std::ptrdiff_t i = at; i < at + piece_; ++i)
                    for (std::ptrdiff_t stream = 0; stream < streams_; ++stream)
                        mine.sums[static_cast<std::size_t>(stream % in_registers)] -=
                            b_at(index(lane, stream * pitch_ + i));
                for (std::ptrdiff_t stream = 0; stream < std::min<std::ptrdiff_t>(streams_, in_registers); ++stream)
                    octant::keep_worst(mine.sum_error, std::abs(mine.sums[static_cast<std::size_t>(stream)]));
            }
        });
    }

    Context& context_;
    std::ptrdiff_t streams_, ahead_;
    Width width_;
    Streams loop_;
    std::ptrdiff_t pieces_, piece_, pitch_;
    Array b_;
    std::vector<Lane> lanes_;
    bool corrupted_ = false;
};

}  // namespace

octant::Row streams_row() { return octant::row<ReadStreams>("streams"); }

}  // namespace stream
