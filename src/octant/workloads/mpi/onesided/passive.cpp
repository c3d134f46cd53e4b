// Rows that ask whether a target which computes holds the origin up.
#include "rows.hpp"
#include "transfers.hpp"

#include "octant/failure.hpp"

#include <algorithm>
#include <cstdint>

namespace onesided {
namespace {

// Computes without a call of MPI or of the system; a chain of dependent additions.
[[gnu::noinline]] std::uint64_t compute(std::int64_t turns) {
    std::uint64_t value = 1;
    for (std::int64_t i = 0; i < turns; ++i) {
        value += 3;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

// How many turns take a second, at the speed of this rank's core.
double turns_a_second(octant::Context const& context) {
    constexpr std::int64_t turns = 200'000;
    double quickest_s = context.seconds_of([] { compute(turns); });
    for (int i = 0; i < 10; ++i) quickest_s = std::min(quickest_s, context.seconds_of([] { compute(turns); }));
    return static_cast<double>(turns) / std::max(quickest_s, 1e-9);
}

template <Operation operation>
class Passive {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = common_info();
        info.phases = {"pure", "overlapped"};
        return info;
    }
    explicit Passive(octant::Context& context) : context_(context), transfers_(context, {Shape::pair, operation}) {
        std::string const& completion = context.knobs.word("completion");
        if (completion == "fence" || completion == "pscw")
            throw octant::Refusal("cannot use completion=" + completion +
                                      " with pattern=" + context.knobs.word("pattern") +
                                      " (a passive target makes no call); try completion=flush",
                                  octant::Exit::not_supported);
    }
    void set_up() {
        transfers_.set_up();
        double const turns = turns_a_second(context_) * static_cast<double>(context_.knobs.integer("compute")) * 1e-6;
        turns_ = static_cast<std::int64_t>(turns);
        lead_ = turns_ / 10;
    }
    // Once while the target waits in a barrier, and once while it computes: the origin begins a tenth later, when no
    // target is still on its way out of the barrier.
    void step() {
        if (!transfers_.plays()) return;
        act(pure);
        transfers_.barrier();
        if (transfers_.acts() || context_.knobs.word("target") == "polls")
            compute(lead_);
        else
            compute(lead_ + turns_);
        act(overlapped);
        transfers_.barrier();
    }
    [[nodiscard]] std::size_t role(int) const { return transfers_.role(); }
    // The step is mostly the target's computing: there is no rate.
    [[nodiscard]] octant::Counts work(std::size_t role) const {
        if (role != 0) return {};
        return {{"rounds", 1}};
    }
    octant::Results verify() { return transfers_.verify(); }
    void corrupt(std::size_t fault) { transfers_.corrupt(fault); }

  private:
    enum Phases : std::size_t { pure, overlapped };
    void act(std::size_t phase) {
        if (!transfers_.acts()) return;
        auto const mark = context_.phase(phase);
        transfers_.step();
    }

    octant::Context& context_;
    Transfers transfers_;
    std::int64_t turns_ = 0, lead_ = 0;
};

}  // namespace

std::vector<octant::Row> passive_rows() {
    return {octant::row<Passive<Operation::put>>("passive-put"), octant::row<Passive<Operation::get>>("passive-get"),
            octant::row<Passive<Operation::accumulate>>("passive-accumulate")};
}

}  // namespace onesided
