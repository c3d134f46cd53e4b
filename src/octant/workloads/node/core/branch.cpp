// pattern=branch: the same branches with directions that nothing can foresee, and with ones that alternate. The step
// has a chain of additions too, which take a cycle each.
#include "additions.hpp"
#include "rows.hpp"

#include "kernels/random.hpp"

#include <cstdint>
#include <vector>

namespace core {
namespace {

constexpr std::int64_t directions = std::int64_t{1} << 20;  // a shorter list would be load_durations
constexpr std::int64_t branches_a_phase = 16'384;

// Number of taken branches. The empty assembly prevents a conversion to conditional moves.
std::int64_t take(std::uint8_t const* direction, std::int64_t count) {
    std::int64_t taken = 0;
    for (std::int64_t i = 0; i < count; ++i)
        if (direction[i] != 0) {
            ++taken;
            asm volatile("" : "+r"(taken));
        }
    return taken;
}

class Branch {
  public:
    static octant::KernelInfo info() {
        return {.knobs = knobs(),
                .pace = octant::Pace::steps,
                .phases = {"random", "alternating", "additions"},
                .takes = one_thread};
    }

    explicit Branch(octant::Context& context)
        : context_(context), random_(directions), alternating_(static_cast<std::size_t>(branches_a_phase)) {
        auto const seed = static_cast<std::uint64_t>(context.knobs.integer("seed"));
        for (std::size_t i = 0; i < random_.size(); ++i) random_[i] = octant::mixed(seed + i * octant::golden_step) & 1;
        for (std::size_t i = 0; i < alternating_.size(); ++i) alternating_[i] = i & 1;
    }

    void step() {
        {
            auto const mark = context_.phase(0);
            taken_ += take(random_.data() + place_, branches_a_phase);
        }
        {
            auto const mark = context_.phase(1);
            alternating_taken_ += take(alternating_.data(), branches_a_phase);
        }
        {
            auto const mark = context_.phase(2);
            additions_.run();
        }
        place_ = (place_ + branches_a_phase) % directions;
        ++steps_;
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {{"branches", 2 * branches_a_phase},
                {"branches_of_phase", branches_a_phase},
                {"additions", Additions::each}};
    }

    // The branches taken, against the sum of the directions; the additions, against a product.
    octant::Results verify() {
        std::int64_t whole = 0, expected = 0;
        for (std::uint8_t const direction : random_) whole += direction;
        std::int64_t const done = steps_ * branches_a_phase;
        for (std::int64_t i = 0; i < done % directions; ++i) expected += random_[static_cast<std::size_t>(i)];
        expected += done / directions * whole;
        return {{"branches taken too often or too rarely",
                 static_cast<double>(std::abs(taken_ - expected) + std::abs(alternating_taken_ - done / 2)), "1", 0},
                additions_.check()};
    }

    void corrupt(std::size_t check) {
        if (check == 0)
            ++taken_;
        else
            additions_.spoil();
    }

  private:
    octant::Context& context_;
    std::vector<std::uint8_t> random_, alternating_;
    std::int64_t place_ = 0, steps_ = 0, taken_ = 0, alternating_taken_ = 0;
    Additions additions_;
};

}  // namespace

octant::Row branch_row() { return octant::row<Branch>("branch"); }

}  // namespace core
