// Rows that ask whether a target which computes holds the origin up.
#include "rows.hpp"
#include "transfers.hpp"

#include "kernels/busy.hpp"
#include "octant/failure.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>

namespace onesided {
namespace {

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
                                      " (a passive target makes no MPI call); try completion=flush",
                                  octant::Exit::not_supported);
    }
    void set_up() {
        transfers_.set_up();
        auto const seconds_of = [this](std::function<void()> const& body) { return context_.seconds_of(body); };
        double const unit_s = std::max(octant::unit_seconds(seconds_of, value_), 1e-12);
        units_ = static_cast<std::int64_t>(static_cast<double>(context_.knobs.integer("compute")) * 1e-6 / unit_s);
        lead_ = units_ / 10;
    }
    // Once while the target waits in a barrier, and once while it computes. The origin begins both times a tenth later,
    // when no target is still on its way out of the barrier.
    void step() {
        if (!transfers_.plays()) return;
        one_phase(pure, 0);
        one_phase(overlapped, context_.knobs.word("target") == "polls" ? 0 : lead_ + units_);
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
    void one_phase(std::size_t phase, std::int64_t target_units) {
        if (transfers_.acts()) {
            value_ = octant::busy(value_, lead_);
            auto const mark = context_.phase(phase);
            transfers_.step();
        } else {
            value_ = octant::busy(value_, target_units);
        }
        transfers_.barrier();
    }

    octant::Context& context_;
    Transfers transfers_;
    std::int64_t units_ = 0, lead_ = 0;
    double value_ = 1;
};

}  // namespace

std::vector<octant::Row> passive_rows() {
    return {octant::row<Passive<Operation::put>>("passive-put"), octant::row<Passive<Operation::get>>("passive-get"),
            octant::row<Passive<Operation::accumulate>>("passive-accumulate")};
}

}  // namespace onesided
