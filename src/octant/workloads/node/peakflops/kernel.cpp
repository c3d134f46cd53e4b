// The rate of multiply-adds that touch no memory: what a core can compute at most.
#include "loops.hpp"

#include "kernels/worst.hpp"
#include "octant/kernel.hpp"
#include "octant/width.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

using octant::Context;
using octant::Refusal;

constexpr long turns_a_chunk = 10'000;  // filling the registers takes 1 % of 2000 turns
constexpr int max_values = 24 * 16;     // chains x lanes, in single precision at 512 bits

struct Width {
    std::string name;
    peakflops::Loops loops;
};

// The vector widths of this processor, narrow to wide.
std::vector<Width> widths() {
    std::vector<Width> found{{"scalar", peakflops::scalar_loops()}, {"128", peakflops::loops_128()}};
    if constexpr (octant::x86) {
        if (octant::has_avx2()) found.push_back({"256", peakflops::loops_256()});
        if (octant::has_avx512()) found.push_back({"512", peakflops::loops_512()});
    }
    return found;
}

class PeakFlops {
  public:
    static octant::KernelInfo info() {
        using octant::KnobKind;
        return {.knobs = {{"width",
                           KnobKind::word,
                           "auto",
                           "vector width in bits; auto: the widest",
                           {"auto", "scalar", "128", "256", "512"}},
                          {"element", KnobKind::word, "double", "element type", {"double", "single"}}}};
    }

    explicit PeakFlops(Context& context)
        : loops_(octant::chosen_width(widths(), context.knobs.word("width")).loops),
          single_(context.knobs.word("element") == "single"),
          lanes_(loops_.bits == 0 ? 1 : loops_.bits / (single_ ? 32 : 64)),
          states_(static_cast<std::size_t>(context.threads)) {
        context.notes = {{"width", loops_.bits == 0 ? "scalar" : std::to_string(loops_.bits)},
                         {"lanes", std::to_string(lanes_)},
                         {"chains", std::to_string(loops_.chains)},
                         {"fused", loops_.fused ? "yes" : "no"}};
    }

    void chunk(int lane, std::int64_t) { turn(lane, &peakflops::Set<double>::alone, &peakflops::Set<float>::alone); }

    // The clock while the units are busy; the harness times both.
    std::int64_t cycles(int lane, int which) {
        if (which == 0)
            turn(lane, &peakflops::Set<double>::with_few_additions, &peakflops::Set<float>::with_few_additions);
        else
            turn(lane, &peakflops::Set<double>::with_many_additions, &peakflops::Set<float>::with_many_additions);
        return turns_a_chunk * (loops_.chains * (which == 0 ? 3 : 5) / 4);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"flops", 2 * turns_a_chunk * values()}}; }

    // x = 1 x + 1 from the start value k gives k + turns, exactly, in either precision: every turn of every lane
    // counts.
    octant::Results verify() {
        for (std::size_t t = 0; t < states_.size() && !corrupted_; ++t) chunk(static_cast<int>(t), 0);
        double worst = 0;
        for (State const& state : states_)
            for (int k = 0; k < values(); ++k) {
                double const got = single_ ? static_cast<double>(state.singles[k]) : state.doubles[k];
                double const error = std::abs(got - (k + turns_a_chunk));
                octant::keep_worst(worst, error);
            }
        return {{"difference from start + iterations", worst, "1", 0}};
    }

    void corrupt(std::size_t) {
        verify();
        corrupted_ = true;
        states_.back().singles[0] += 1;
        states_.back().doubles[0] += 1;
    }

  private:
    struct alignas(64) State {
        double doubles[max_values] = {};
        float singles[max_values] = {};
    };
    void turn(int lane, peakflops::Loop<double> peakflops::Set<double>::*doubles,
              peakflops::Loop<float> peakflops::Set<float>::*singles) {
        State& state = states_[static_cast<std::size_t>(lane)];
        if (single_) {
            start(state.singles);
            (loops_.singles.*singles)(state.singles, 1, 1, turns_a_chunk);
        } else {
            start(state.doubles);
            (loops_.doubles.*doubles)(state.doubles, 1, 1, turns_a_chunk);
        }
    }
    template <class Real>
    void start(Real* values_of) const {
        for (int k = 0; k < values(); ++k) values_of[k] = static_cast<Real>(k);
    }
    [[nodiscard]] int values() const { return loops_.chains * lanes_; }

    peakflops::Loops loops_;
    bool single_;
    int lanes_;
    std::vector<State> states_;
    bool corrupted_ = false;
};

}  // namespace

int main(int argc, char** argv) { return octant::run<PeakFlops>(argc, argv); }
