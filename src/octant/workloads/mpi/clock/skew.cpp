// Skew with which the ranks of a group leave a synchronisation.
#include "clocks.hpp"
#include "rows.hpp"

#include <array>

namespace clocks {
namespace {

constexpr std::size_t synchronise = 0;     // phases
constexpr std::size_t skew = 0;            // readings
constexpr std::int64_t late_ns = 200'000;  // of the rank that comes late in the verification

class Skew {
  public:
    static octant::KernelInfo info() {
        return {.knobs = knobs(),
                .pace = octant::Pace::steps,
                .sync = octant::Sync::none,
                .phases = {"synchronise"},
                .readings = {{"skew", "s"}},
                .min_ranks = 2};
    }

    explicit Skew(octant::Context& context)
        : context_(context), group_(context.group), method_(octant::sync_of(context.knobs.word("method"))) {
        note_global(context);
    }

    void set_up() {
        if (group_.node().size() != group_.size())
            throw octant::Refusal(
                "cannot compare exit times of ranks on several hosts (the clock offsets are larger); try ranks of one "
                "host, or pattern=offset",
                octant::Exit::not_supported);
    }

    void step() {
        {
            auto const mark = context_.phase(synchronise);
            octant::synchronise(group_, method_);
        }
        std::int64_t const left_ns = octant::now_ns();
        auto const [last_ns, first_ns] = last_and_first(left_ns);
        context_.record(skew, static_cast<double>(last_ns - first_ns) * 1e-9);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"synchronisations", group_.rank() == 0 ? 1 : 0}}; }

    // Checks that no rank leaves a barrier before the last rank has entered, that no rank starts before the time that
    // the first rank has sent, and that, without any method, no rank leaves before it has entered.
    octant::Results verify() {
        double early = 0;
        std::string where;
        for (int late = 0; late < group_.size(); ++late) {
            static_cast<void>(last_and_first(octant::now_ns()));
            if (late == group_.rank()) octant::spin_until(octant::now_ns() + late_ns);
            std::int64_t const came_ns = octant::now_ns();
            octant::synchronise(group_, method_);
            std::int64_t left_ns = octant::now_ns();
            if (spoilt_ && group_.rank() == group_.size() - 1) left_ns -= 1'000'000'000;
            std::int64_t const last_ns = last_and_first(came_ns)[0], first_rank_ns = group_.broadcast(came_ns);
            bool const waits = method_ == octant::Sync::barrier || method_ == octant::Sync::dissemination;
            std::int64_t const not_before_ns = waits                            ? last_ns
                                               : method_ == octant::Sync::clock ? first_rank_ns
                                                                                : came_ns;
            if (left_ns >= not_before_ns) continue;
            if (early == 0)
                where = "rank " + std::to_string(group_.rank()) + " left before rank " + std::to_string(late);
            early += 1;
        }
        return {{"ranks that left too early", early, "1", 0, where}};
    }
    void corrupt(std::size_t) { spoilt_ = true; }

  private:
    [[nodiscard]] std::array<std::int64_t, 2> last_and_first(std::int64_t mine_ns) const {
        std::array<std::int64_t, 2> ends{mine_ns, -mine_ns};
        octant::check(MPI_Allreduce(MPI_IN_PLACE, ends.data(), 2, MPI_INT64_T, MPI_MAX, group_.get()));
        return {ends[0], -ends[1]};
    }

    octant::Context& context_;
    octant::Comm const& group_;
    octant::Sync method_;
    bool spoilt_ = false;
};

}  // namespace

octant::Row skew_row() { return octant::row<Skew>("skew"); }

}  // namespace clocks
