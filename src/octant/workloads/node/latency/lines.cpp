// pattern=lines: a random cycle through all lines of a buffer, one of each thread.
#include "chain.hpp"
#include "rows.hpp"

#include <cstdint>
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
          chains_(static_cast<std::size_t>(context.threads)) {
        context.claim_outside(Chain::bytes_for(nodes_.size()));
        context.on_each_thread([&](int lane) {
            auto const number = static_cast<std::size_t>(lane);
            auto const seed = static_cast<std::uint64_t>(context.knobs.integer("seed")) + number;
            chains_[number].link(nodes_.data() + count_ * number, count_, seed);
        });
        context.watched = {nodes_.mapping().bytes()};
        context.note_rounded(context.knobs.integer("bytes"), static_cast<std::int64_t>(count_) * line_bytes);
    }

    void chunk(int lane, std::int64_t) { chains_[static_cast<std::size_t>(lane)].chunk(); }

    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"loads", loads_a_chunk}}; }

    octant::Results verify() {
        std::vector<double> wrong(chains_.size(), 0.0);
        context_.on_each_thread(
            [&](int lane) { wrong[static_cast<std::size_t>(lane)] = chains_[static_cast<std::size_t>(lane)].wrong(); });
        return {{"wrong links of the cycle, or loads at a wrong position",
                 std::accumulate(wrong.begin(), wrong.end(), 0.0), "1", 0}};
    }

    void corrupt(std::size_t) { chains_[0].spoil(); }

  private:
    octant::Context& context_;
    std::size_t count_;
    octant::Buffer<Node> nodes_;
    std::vector<Chain> chains_;
};

}  // namespace

octant::Row lines_row() { return octant::row<Lines>("lines"); }

}  // namespace latency
