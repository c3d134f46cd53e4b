// A throw-away workload that uses everything a kernel may declare: every rank of a group hands a block to the next.
#include "octant/kernel.hpp"

#include <cstdint>
#include <numeric>
#include <span>

namespace {

constexpr std::size_t fill = 0, pass = 1, sum = 2;  // phases
constexpr std::size_t total = 0;                    // readings

class Ring {
  public:
    static octant::KernelInfo info() {
        return {.knobs = {{"bytes", octant::KnobKind::bytes, "1KiB", "length of a block", {}, 8, 1 << 20}},
                .pace = octant::Pace::steps,
                .sync = octant::Sync::barrier,
                .phases = {"fill", "pass", "pass/sum"},
                .roles = {{.name = "first"}, {.name = "other", .timed = false}},
                .readings = {{"total", "1"}}};
    }

    explicit Ring(octant::Context& context)
        : context_(context),
          count_(static_cast<std::size_t>(context.knobs.integer("bytes") / 8)),
          out_(context.buffer<std::int64_t>(count_)),
          in_(context.buffer<std::int64_t>(count_)) {}

    void prepare() { ++round_; }

    void step() {
        {
            auto const mark = context_.phase(fill);
            std::iota(out_.span().begin(), out_.span().end(), first_of(context_.group.rank()));
        }
        auto const mark = context_.phase(pass);
        hand_over();
        auto const inner = context_.phase(sum);
        context_.record(total, static_cast<double>(std::accumulate(in_.span().begin(), in_.span().end(), 0LL)));
    }

    [[nodiscard]] std::size_t role(int) const { return context_.group.rank() == 0 ? 0 : 1; }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {{"handovers", 1}, {"bytes_sent", static_cast<std::int64_t>(8 * count_)}};
    }
    [[nodiscard]] octant::Results results() const {
        context_.keep("block.bin", "block", std::span<std::int64_t const>(in_.span()));
        return {{"ring", static_cast<double>(context_.group.size()), "1"}};
    }

    octant::Results verify() {
        step();
        if (corrupted_) in_[0] += 1;
        int const before = (context_.group.rank() + context_.group.size() - 1) % context_.group.size();
        double wrong = 0;
        for (std::size_t i = 0; i < count_; ++i)
            wrong += in_[i] != first_of(before) + static_cast<std::int64_t>(i) ? 1 : 0;
        return {{"elements that differ", wrong, "1", 0}, {"rounds without preparation", round_ == 0 ? 1. : 0., "1", 0}};
    }
    void corrupt(std::size_t check) {
        if (check == 0)
            corrupted_ = true;
        else
            round_ = 0;
    }

  private:
    [[nodiscard]] std::int64_t first_of(int rank) const { return 1000 * rank + round_; }
    void hand_over() const {
        octant::Comm const& group = context_.group;
        int const n = static_cast<int>(8 * count_);
        int const next = (group.rank() + 1) % group.size(), before = (group.rank() + group.size() - 1) % group.size();
        octant::check(MPI_Sendrecv(out_.data(), n, MPI_BYTE, next, 0, in_.data(), n, MPI_BYTE, before, 0, group.get(),
                                   MPI_STATUS_IGNORE));
    }

    octant::Context& context_;
    std::size_t count_;
    octant::Buffer<std::int64_t> out_, in_;
    std::int64_t round_ = 0;
    bool corrupted_ = false;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Ring>(argc, argv); }
