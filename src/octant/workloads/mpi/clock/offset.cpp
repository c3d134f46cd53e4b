// Offset of each rank's clock from that of the first rank: in every step, or at several times of a longer period.
#include "clocks.hpp"
#include "rows.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

namespace clocks {
namespace {

enum Readings : std::size_t { offset, bound, distance, moment };

octant::KernelInfo info_of(octant::Pace pace) {
    return {.knobs = knobs(),
            .pace = pace,
            .sync = octant::Sync::none,
            .readings = {{"offset", "s"}, {"bound", "s"}, {"distance", "s"}, {"moment", "s"}},
            .min_ranks = 2,
            .blocks = pace == octant::Pace::whole};
}

class Offsets {
  public:
    explicit Offsets(octant::Context& context)
        : context_(context),
          group_(context.group),
          read_(reader_of(context.knobs)),
          exchanges_(context.knobs.integer("exchanges")),
          begin_s_(read_()) {
        note_global(context);
    }

    void set_up() { one_host_ = group_.node().size() == group_.size(); }

    void take() {
        find();
        context_.record(offset, found_.middle());
        context_.record(bound, found_.half_width());
        context_.record(distance, std::fabs(found_.middle()));
        context_.record(moment, read_() - begin_s_);
    }

    [[nodiscard]] octant::Counts work(char const* what, std::int64_t count) const {
        return {{what, group_.rank() == 0 ? count : 0}};
    }
    [[nodiscard]] std::int64_t exchanges() const { return exchanges_ * (group_.size() - 1); }

    // On one host every clock can be compared with the one that all its processes share, without a message.
    octant::Results verify() {
        contradictions_ = 0;
        Range const before = truth();
        find();
        Range const after = truth();
        if (spoils_ == 1 && group_.rank() == group_.size() - 1) found_.low = found_.high += 1;
        Range const true_one{std::min(before.low, after.low), std::max(before.high, after.high)};
        double const beyond = std::max({0.0, found_.low - true_one.high, true_one.low - found_.high});
        std::string const mine = "rank " + std::to_string(group_.rank());
        return {{"replies received before they were sent", contradictions_, "1", 0, mine},
                {"offset beyond its bound", one_host_ ? beyond : 0, "s", 0, mine}};
    }
    void corrupt(std::size_t check) { spoils_ = static_cast<int>(check); }

  private:
    void find() {
        for (int other = 1; other < group_.size(); ++other) {
            if (group_.rank() == 0) {
                OffsetBounds ahead(exchanges_ + 1);
                exchange_readings(group_, other, exchanges_, read_, &ahead);
                Range const least = ahead.of_least_round_trip();
                if (spoils_ == 0) ahead.add(least.high, least.low - 2, least.high + 1);
                contradictions_ += ahead.contradictions(least);
                std::array<double, 2> const bounds{least.low, least.high};
                octant::check(MPI_Send(bounds.data(), 2, MPI_DOUBLE, other, 1, group_.get()));
            } else if (group_.rank() == other) {
                exchange_readings(group_, other, exchanges_, read_, nullptr);
                std::array<double, 2> bounds{};
                octant::check(MPI_Recv(bounds.data(), 2, MPI_DOUBLE, 0, 1, group_.get(), MPI_STATUS_IGNORE));
                found_ = {bounds[0], bounds[1]};
            }
        }
    }

    [[nodiscard]] Range truth() const {
        Range const mine = ahead_of_monotonic(read_);
        std::array<double, 2> first{mine.low, mine.high};
        octant::check(MPI_Bcast(first.data(), 2, MPI_DOUBLE, 0, group_.get()));
        return {mine.low - first[1], mine.high - first[0]};
    }

    octant::Context& context_;
    octant::Comm const& group_;
    Read read_;
    std::int64_t exchanges_;
    double begin_s_;
    Range found_{0, 0};  // of this rank to the first
    double contradictions_ = 0;
    bool one_host_ = false;
    int spoils_ = -1;
};

class Offset {
  public:
    static octant::KernelInfo info() { return info_of(octant::Pace::steps); }
    explicit Offset(octant::Context& context) : offsets_(context) {}
    void set_up() { offsets_.set_up(); }
    void step() { offsets_.take(); }
    [[nodiscard]] octant::Counts work(std::size_t) const { return offsets_.work("exchanges", offsets_.exchanges()); }
    octant::Results verify() { return offsets_.verify(); }
    void corrupt(std::size_t check) { offsets_.corrupt(check); }

  private:
    Offsets offsets_;
};

class Drift {
  public:
    static octant::KernelInfo info() { return info_of(octant::Pace::whole); }
    explicit Drift(octant::Context& context)
        : context_(context),
          offsets_(context),
          moments_(context.knobs.integer("moments")),
          apart_s_(context.knobs.real("duration") / static_cast<double>(moments_ - 1)) {}
    void set_up() { offsets_.set_up(); }
    void step() {
        auto const begin = std::chrono::steady_clock::now();
        for (std::int64_t i = 0; i < moments_; ++i) {
            std::this_thread::sleep_until(begin + std::chrono::duration<double>(static_cast<double>(i) * apart_s_));
            offsets_.take();
            context_.progress(static_cast<double>(i + 1) / static_cast<double>(moments_));
        }
    }
    [[nodiscard]] octant::Counts work(std::size_t) const { return offsets_.work("moments", moments_); }
    octant::Results verify() { return offsets_.verify(); }
    void corrupt(std::size_t check) { offsets_.corrupt(check); }

  private:
    octant::Context& context_;
    Offsets offsets_;
    std::int64_t moments_;
    double apart_s_;
};

}  // namespace

octant::Row offset_row() { return octant::row<Offset>("offset"); }
octant::Row drift_row() { return octant::row<Drift>("drift"); }

}  // namespace clocks
