// pattern=gather: the sum of elements that a list names, of which each lane has its own.
#include "arrays.hpp"
#include "reads.hpp"
#include "rows.hpp"

#include "kernels/random.hpp"
#include "kernels/worst.hpp"

#include <algorithm>
#include <limits>

namespace stream {
namespace {

using octant::Context;
using Index = std::uint32_t;

constexpr std::ptrdiff_t max_piece = 65536;  // loads of a chunk; pieces are whole pages

class Gather {
  public:
    static octant::KernelInfo info() { return {.knobs = knobs()}; }

    explicit Gather(Context& context)
        : context_(context),
          ahead_(doubles(context, "prefetch")),
          loop_(gathered_loads(ahead_ > 0)),
          pieces_((elements(context) - 1) / max_piece + 1),
          piece_(std::max(page, elements(context) / pieces_ / page * page)),
          length_(pieces_ * piece_),
          listed_((length_ + max_ahead + page - 1) / page * page),
          b_(context, context.threads, length_, 0, Guards::none),
          index_(context.buffer<Index>(static_cast<std::size_t>(listed_ * context.threads))),
          lanes_(static_cast<std::size_t>(context.threads)) {
        if (length_ > std::numeric_limits<Index>::max())
            throw octant::Refusal("cannot gather from " + std::to_string(8 * length_) +
                                      " bytes per thread (indices have 32 bits); try more threads",
                                  octant::Exit::not_supported);
        context.on_each_thread([&](int lane) {
            for (std::ptrdiff_t i = 0; i < length_; ++i) b_.part(lane)[i] = b_at(element(lane, i));
            draw(lane);
        });
        context.watched.push_back(index_.mapping().bytes());
        for (std::ptrdiff_t i = 0; i < length_; i += page) lines_ += lines_of(list(0) + i);
        context.note_rounded(context.knobs.integer("bytes"), (8 + 4) * length_ * context.threads);
    }

    void chunk(int lane, std::int64_t) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        mine.sum = loop_(b_.part(lane), list(lane) + mine.next, piece_, ahead_);
        mine.next = mine.next + piece_ < length_ ? mine.next + piece_ : 0;
    }

    // A line that is used by several of 512 consecutive loads counts once; the index list counts, too.
    [[nodiscard]] octant::Counts work(std::size_t) const {
        std::ptrdiff_t const lines = lines_ / pieces_;
        return counts_of_loads(piece_, lines, 8 + 4);
    }

    octant::Results verify() {
        if (!corrupted_) recompute(piece_);
        return worst_sum(lanes_, "largest difference from the plain sum");
    }
    void corrupt(std::size_t) {  // the last loads of each piece are left out
        recompute(piece_ - line);
        corrupted_ = true;
    }

  private:
    struct alignas(64) Lane {
        std::ptrdiff_t next = 0;
        double sum = 0;
        double sum_error = 0;
    };
    static constexpr std::ptrdiff_t max_ahead = 512;

    [[nodiscard]] static std::ptrdiff_t elements(Context const& context) {  // of a lane
        std::ptrdiff_t const bytes = context.knobs.integer("bytes") / context.threads;
        require_bytes(context, bytes, (8 + 4) * page, "pattern=gather");
        return bytes / (8 + 4);
    }
    [[nodiscard]] Index* list(int lane) const { return index_.data() + lane * listed_; }
    [[nodiscard]] std::size_t element(int lane, std::ptrdiff_t i) const {
        return static_cast<std::size_t>(lane * length_ + i);
    }

    // As many indices as elements, drawn with replacement from the whole part, or equally many from each page.
    void draw(int lane) {
        Index* const entries = list(lane);
        std::string const& order = context_.knobs.word("index");
        for (std::ptrdiff_t i = 0; i < listed_; ++i) {
            std::uint64_t const drawn = octant::mixed(element(lane, i) + 1);
            std::ptrdiff_t const first = order == "random" ? 0 : i % length_ / page * page;
            auto const many = static_cast<std::uint64_t>(order == "random" ? length_ : page);
            entries[i] = static_cast<Index>(static_cast<std::uint64_t>(first) + drawn % many);
        }
        for (std::ptrdiff_t i = 0; i < length_ && order == "sorted"; i += page)
            std::sort(entries + i, entries + i + page);
    }
    // Different lines among the next 512 loads.
    [[nodiscard]] static std::ptrdiff_t lines_of(Index const* entries) {
        std::vector<Index> lines(entries, entries + page);
        for (Index& one : lines) one /= line;
        std::ranges::sort(lines);
        return std::ranges::unique(lines).begin() - lines.begin();
    }

    void recompute(std::ptrdiff_t loads) {
        context_.on_each_thread([&](int lane) {
            Lane& mine = lanes_[static_cast<std::size_t>(lane)];
            mine.sum_error = 0;
            for (std::ptrdiff_t at = 0; at < length_; at += piece_) {
                double expected = 0;
                for (std::ptrdiff_t i = at; i < at + piece_; ++i) expected += b_at(element(lane, list(lane)[i]));
                double const sum = loop_(b_.part(lane), list(lane) + at, loads, ahead_);
                octant::keep_worst(mine.sum_error, std::abs(sum - expected));
            }
        });
    }

    Context& context_;
    std::ptrdiff_t ahead_;
    Gathered loop_;
    std::ptrdiff_t pieces_, piece_, length_, listed_, lines_ = 0;
    Array b_;
    octant::Buffer<Index> index_;
    std::vector<Lane> lanes_;
    bool corrupted_ = false;
};

}  // namespace

octant::Row gather_row() { return octant::row<Gather>("gather"); }

}  // namespace stream
