// pattern=lines: a random cycle through all lines of a buffer.
#include "chase.hpp"
#include "rows.hpp"

#include "kernels/random.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace latency {
namespace {

class Lines {
  public:
    static octant::KernelInfo info() { return {.knobs = knobs()}; }

    explicit Lines(octant::Context& context)
        : context_(context),
          count_(static_cast<std::size_t>(context.knobs.integer("bytes") / line_bytes)),
          nodes_(context.buffer<Node>(count_ * static_cast<std::size_t>(context.threads))),
          lanes_(static_cast<std::size_t>(context.threads)) {
        context.on_each_thread([&](int lane) {
            link(lane, static_cast<std::uint64_t>(context.knobs.integer("seed")) + static_cast<std::uint64_t>(lane));
        });
        context.watched = {nodes_.mapping().bytes()};
        context.note_rounded(context.knobs.integer("bytes"), static_cast<std::int64_t>(count_) * line_bytes);
    }

    void chunk(int lane, std::int64_t) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        mine.at = follow(mine.at, loads_a_chunk);
        mine.loads += loads_a_chunk;
    }

    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"loads", loads_a_chunk}}; }

    // Three facts: the order names every line exactly once, every line points to the next of the order, and the timed
    // loads ended where so many steps along the order must end. Together: one cycle, and it was really followed.
    octant::Results verify() {
        std::vector<double> wrong(lanes_.size(), 0.0);
        context_.on_each_thread([&](int lane) {
            Lane const& mine = lanes_[static_cast<std::size_t>(lane)];
            Node const* const base = nodes_.data() + count_ * static_cast<std::size_t>(lane);
            std::vector<bool> seen(count_, false);
            double errors = 0;
            for (std::size_t i = 0; i < count_; ++i) {
                std::size_t const from = mine.order[i], to = mine.order[i + 1 < count_ ? i + 1 : 0];
                if (from >= count_ || seen[from] || base[from].next != base + to) ++errors;
                if (from < count_) seen[from] = true;
            }
            if (mine.at != base + mine.order[static_cast<std::size_t>(mine.loads) % count_]) ++errors;
            wrong[static_cast<std::size_t>(lane)] = errors;
        });
        return {{"lines off the cycle, or loads that went astray", std::accumulate(wrong.begin(), wrong.end(), 0.0),
                 "1", 0}};
    }

    // Two places of the order exchange what follows them: two cycles of half the lines each.
    void corrupt(std::size_t) {
        auto const& order = lanes_[0].order;
        std::swap(nodes_[order[0]].next, nodes_[order[count_ / 2]].next);
    }

  private:
    struct alignas(64) Lane {
        Node const* at = nullptr;
        std::int64_t loads = 0;
        std::vector<std::uint32_t> order;  // the cycle, from where it starts
    };

    void link(int lane, std::uint64_t seed) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        Node* const base = nodes_.data() + count_ * static_cast<std::size_t>(lane);
        for (std::size_t i = 0; i < count_; ++i) base[i].next = nullptr;  // first touch, in order
        mine.order.resize(count_);
        std::iota(mine.order.begin(), mine.order.end(), 0U);
        octant::Random random(seed);
        for (std::size_t i = count_ - 1; i > 0; --i) std::swap(mine.order[i], mine.order[random.below(i + 1)]);
        for (std::size_t i = 0; i < count_; ++i)
            base[mine.order[i]].next = base + mine.order[i + 1 < count_ ? i + 1 : 0];
        mine.at = base + mine.order[0];
    }

    octant::Context& context_;
    std::size_t count_;
    octant::Buffer<Node> nodes_;
    std::vector<Lane> lanes_;
};

}  // namespace

octant::Row lines_row() { return octant::row<Lines>("lines"); }

}  // namespace latency
