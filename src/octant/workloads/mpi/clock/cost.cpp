// Cost of a clock reading, and resolution of the clock.
#include "clocks.hpp"
#include "rows.hpp"

#include <algorithm>
#include <cmath>

namespace clocks {
namespace {

constexpr int block = 1000;  // readings of a step

// Returns how many of them lie before the reading that came earlier; `last_s` becomes the last of them.
template <class Clock>
int read_block(double& last_s) {
    int backward = 0;
    double last = last_s;
    for (int i = 0; i < block; ++i) {
        double const now = Clock::read_s();
        backward += now < last ? 1 : 0;
        last = now;
    }
    last_s = last;
    return backward;
}

class Cost {
  public:
    static octant::KernelInfo info() {
        return {.knobs = knobs(), .pace = octant::Pace::steps, .sync = octant::Sync::none};
    }

    explicit Cost(octant::Context& context)
        : first_(context.group.rank() == 0),
          read_(reader_of(context.knobs)),
          read_block_(context.knobs.word("clock") == "wtime" ? &read_block<Wtime> : &read_block<Monotonic>),
          begin_(ahead_of_monotonic(read_)),
          begin_ns_(octant::now_ns()) {
        note_global(context);
    }

    void step() { backward_ += read_block_(last_s_); }

    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"calls", first_ ? block : 0}}; }

    [[nodiscard]] octant::Results results() const {
        constexpr int differences = 10'000;
        double min_s = 1;
        for (int i = 0; i < differences; ++i) {
            double const first_s = read_();
            double next_s = read_();
            while (next_s == first_s) next_s = read_();
            min_s = std::min(min_s, std::fabs(next_s - first_s));
        }
        return {{"resolution", min_s, "s"}, {"tick", MPI_Wtick(), "s"}};
    }

    // It never runs backward, and as fast as the system's clock: within a thousandth beyond what is not known exactly.
    [[nodiscard]] octant::Results verify() {
        while (octant::now_ns() - begin_ns_ < min_ns) backward_ += read_block_(last_s_);
        Range now = ahead_of_monotonic(read_);
        double const elapsed_s = static_cast<double>(octant::now_ns() - begin_ns_) * 1e-9;
        if (spoils_ == 1) now = {now.low + elapsed_s, now.high + elapsed_s};
        double const off_s = std::max({0.0, now.low - begin_.high, begin_.low - now.high});
        return {{"readings earlier than the previous one", backward_ + (spoils_ == 0 ? 1 : 0), "1", 0},
                {"difference from the rate of CLOCK_MONOTONIC", off_s / elapsed_s, "1", 1e-3}};
    }
    void corrupt(std::size_t check) { spoils_ = static_cast<int>(check); }

  private:
    static constexpr std::int64_t min_ns = 10'000'000;
    bool first_;  // all ranks read at the same time; one of them counts
    Read read_;
    int (*read_block_)(double&);
    Range begin_;
    std::int64_t begin_ns_;
    double last_s_ = 0;
    double backward_ = 0;
    int spoils_ = -1;
};

}  // namespace

octant::Row cost_row() { return octant::row<Cost>("cost"); }

}  // namespace clocks
