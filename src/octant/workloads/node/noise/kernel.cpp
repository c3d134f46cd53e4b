// Repeats a fixed quantum of work: time above that of an undisturbed quantum is noise.
#include "octant/kernel.hpp"

#include <sched.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

// Dependent additions, one a cycle: neither memory nor other cores can change their time.
std::uint64_t add_up(std::uint64_t sum, std::int64_t additions) {
    std::uint64_t step = 3;
    asm volatile("" : "+r"(step));  // in a register: recent cores add constants while renaming, at no cycle at all
    for (std::int64_t i = 0; i < additions; i += 8)
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) {
            sum += step;
            asm volatile("" : "+r"(sum));  // each addition waits for the one before it
        }
    return sum;
}

class Noise {
  public:
    static octant::KernelInfo info() {
        return {.knobs = {{"additions",
                           octant::KnobKind::integer,
                           "40000",
                           "dependent additions per quantum (a multiple of 8)",
                           {},
                           800,
                           1'000'000'000}},
                .sample_ns = 0,  // every quantum is a sample
                // Rare interruptions need measuring time, even if the quantum is steady.
                .defaults = {{"seconds", "0.5"}, {"samples", "100000"}, {"precision", "0"}}};
    }

    explicit Noise(octant::Context& context)
        : group_(context.group),
          additions_(context.knobs.integer("additions") / 8 * 8),
          lanes_(static_cast<std::size_t>(context.threads)) {}

    void chunk(int lane, std::int64_t) {
        Lane& mine = lanes_[static_cast<std::size_t>(lane)];
        mine.sum = add_up(mine.sum, additions_);
        int const now = sched_getcpu();  // some nanoseconds, without a call of the kernel of the system
        mine.moves += mine.quanta > 0 && now != mine.cpu ? 1 : 0;
        mine.cpu = now;
        ++mine.quanta;
    }

    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"quanta", 1}}; }

    // Each quantum added 3 × additions, so a skipped or doubled one shows.
    [[nodiscard]] octant::Results verify() const {
        double worst = 0;
        for (Lane const& lane : lanes_) {
            std::uint64_t const expected = 3 * static_cast<std::uint64_t>(additions_) * lane.quanta;
            worst =
                std::fmax(worst, lane.sum == expected
                                     ? 0.0
                                     : 1.0 + std::fabs(static_cast<double>(lane.sum) - static_cast<double>(expected)));
        }
        return {{"difference from additions x quanta", worst, "1", 0}};
    }

    // Quanta of all threads, including those before the first sample.
    [[nodiscard]] octant::Results results() const {
        std::int64_t quanta = 0, moves = 0;
        for (Lane const& lane : lanes_) quanta += static_cast<std::int64_t>(lane.quanta), moves += lane.moves;
        return {{"quanta", static_cast<double>(group_.sum(quanta)), "1"},
                {"moves to another hardware thread", static_cast<double>(group_.sum(moves)), "1"}};
    }

    void corrupt(std::size_t) { lanes_.back().sum += 1; }

  private:
    struct alignas(64) Lane {
        std::uint64_t sum = 0, quanta = 0;
        std::int64_t moves = 0;
        int cpu = -1;
    };
    octant::Comm const& group_;
    std::int64_t additions_;
    std::vector<Lane> lanes_;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<Noise>(argc, argv); }
