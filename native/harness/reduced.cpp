// Reduced form of records with too many times: sums, sketches and the slowest samples.
#include "octant/sketch.hpp"
#include "series.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace octant {
namespace {

constexpr std::size_t block_steps = 1'000, max_worst = 64;

struct Slow {  // a time, its place and whose it is
    std::int64_t ns, sample, rank, thread;
};

void keep_slowest(std::vector<Slow>& all) {
    std::size_t const kept = std::min(max_worst, all.size());
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(kept), [](Slow const& a, Slow const& b) {
        return std::array{-a.ns, a.sample, a.rank, a.thread} < std::array{-b.ns, b.sample, b.rank, b.thread};
    });
    all.resize(kept);
}

void write_worst(JsonText& text, std::vector<Slow> const& worst, bool threads) {
    text.key("worst").open('[');
    for (auto const& [ns, sample, rank, thread] : worst)
        text.list(threads ? std::vector{sample, rank, ns, thread} : std::vector{sample, rank, ns});
    text.close(']');
}

class Reducer {  // of one series of one role over the ranks of a group
  public:
    Reducer(Comm const& group, RankPart const& part, std::size_t role) : group_(group), part_(part), role_(role) {}

    void add(std::span<std::int64_t const> times, int thread, std::span<std::int64_t const> preempted = {}) {
        preempted_.insert(preempted_.end(), preempted.begin(), preempted.end());
        for (std::size_t i = 0; i < times.size(); ++i) {
            count_ += 1;
            sum_ns_ += times[i];
            min_ns_ = std::min(min_ns_, times[i]);
            greatest_ns_ = std::max(greatest_ns_, times[i]);
            sketch_.insert(times[i]);
            if (part_.info.pace == Pace::chunks)
                worst_.push_back({times[i], static_cast<std::int64_t>(i), part_.rank, thread});
            else
                steps_.push_back(times[i]);
        }
        keep_slowest(worst_);
    }

    // Of each burst the times between two samples, and together those before its first and after its last: the
    // harness's own, and whatever interrupted the lane there.
    void add_gaps(Lane const& lane) {
        for (std::size_t burst = 0; burst < lane.bursts.size(); ++burst) {
            auto const first = static_cast<std::size_t>(lane.bursts[burst].first);
            auto const end = burst + 1 < lane.bursts.size() ? static_cast<std::size_t>(lane.bursts[burst + 1].first)
                                                            : lane.begin_ns.size();
            if (first >= end) continue;
            std::int64_t const span_ns = lane.begin_ns[end - 1] + lane.duration_ns[end - 1] - lane.begin_ns[first];
            gaps_.insert(lane.bursts[burst].wall_ns - span_ns);
            for (std::size_t i = first + 1; i < end; ++i)
                gaps_.insert(lane.begin_ns[i] - lane.begin_ns[i - 1] - lane.duration_ns[i - 1]);
        }
    }

    void write(JsonText& text, std::string const& name, std::int64_t most, Detail detail) {
        text.open('{');
        text.key("name").word(name);
        text.key("group").number(part_.group);
        text.key("role").word(part_.info.roles[role_].name);
        write_ranks(text);
        if (detail != Detail::sums) {
            group_.reduce_sum_to_root(sketch_.counts());
            text.key("sketch");
            sketch_.write(text);
            if (part_.info.pace == Pace::chunks) {
                group_.reduce_sum_to_root(gaps_.counts());
                text.key("gaps");
                gaps_.write(text);
                write_slowest_chunks(text);
            } else {
                write_slowest_steps(text, detail == Detail::lists ? most : 0);
            }
        }
        text.close('}');
    }

  private:
    void write_ranks(JsonText& text) const {
        std::vector<std::int64_t> mine;
        if (count_ > 0) mine = {part_.rank, count_, sum_ns_, min_ns_, greatest_ns_};
        text.key("ranks").open('[');
        for (auto const& rank : group_.gather(mine))
            if (!rank.empty()) text.list(rank);
        text.close(']');
    }

    void write_slowest_chunks(JsonText& text) const {
        std::vector<std::int64_t> mine;
        for (auto const& [ns, sample, rank, thread] : worst_) mine.insert(mine.end(), {ns, sample, rank, thread});
        std::vector<Slow> all;
        for (auto const& rank : group_.gather(mine))
            for (std::size_t i = 0; i < rank.size(); i += 4)
                all.push_back({rank[i], rank[i + 1], rank[i + 2], rank[i + 3]});
        keep_slowest(all);
        write_worst(text, all, true);
    }

    // The slowest rank's time of each step is in no sketch of ranks: as a list while it fits in `most` bytes.
    void write_slowest_steps(JsonText& text, std::int64_t most) const {
        auto const steps = static_cast<std::size_t>(group_.max(static_cast<std::int64_t>(steps_.size())));
        std::vector<double> mine(steps_.begin(), steps_.end());
        mine.resize(steps, -1);
        std::vector<std::int64_t> ns, rank;
        for (auto const& [time, whose] : group_.slowest(mine, part_.rank)) {
            ns.push_back(static_cast<std::int64_t>(time));
            rank.push_back(whose);
        }
        auto const switched_out = steps_switched_out(steps);
        JsonText lists;
        lists.key("slowest_ns").list(ns);
        lists.key("slowest_rank").list(rank);
        if (!switched_out.empty()) lists.key("preempted").list(switched_out);
        if (static_cast<std::int64_t>(lists.text().size()) <= most)
            text.raw(lists.text());
        else
            write_without_lists(text, ns, rank, switched_out);
    }

    // Those during which any rank was, at the group's first rank.
    [[nodiscard]] std::vector<std::int64_t> steps_switched_out(std::size_t steps) const {
        std::vector<std::int64_t> switched(steps, 0), found;
        for (std::int64_t const step : preempted_)
            if (static_cast<std::size_t>(step) < steps) switched[static_cast<std::size_t>(step)] = 1;
        group_.reduce_max_to_root(switched);
        for (std::size_t i = 0; i < steps; ++i)
            if (switched[i] != 0) found.push_back(static_cast<std::int64_t>(i));
        return found;
    }

    static void write_without_lists(JsonText& text, std::vector<std::int64_t> const& ns,
                                    std::vector<std::int64_t> const& rank,
                                    std::vector<std::int64_t> const& switched_out) {
        Sketch slowest;
        std::vector<std::int64_t> blocks;
        std::vector<Slow> worst;
        for (std::size_t i = 0; i < ns.size(); ++i) {
            slowest.insert(ns[i]);
            if (i % block_steps == 0) blocks.push_back(0);
            blocks.back() += ns[i];
            worst.push_back({ns[i], static_cast<std::int64_t>(i), rank[i], 0});
        }
        keep_slowest(worst);
        text.key("slowest");
        slowest.write(text);
        text.key("blocks_ns").list(blocks);
        write_worst(text, worst, false);
        std::vector<std::int64_t> of_worst;
        for (Slow const& slow : worst)
            if (std::ranges::binary_search(switched_out, slow.sample)) of_worst.push_back(slow.sample);
        if (!of_worst.empty()) text.key("preempted").list(of_worst);
    }

    Comm const& group_;
    RankPart const& part_;
    std::size_t role_;
    std::int64_t count_ = 0, sum_ns_ = 0, min_ns_ = INT64_MAX, greatest_ns_ = 0;
    Sketch sketch_, gaps_;                 // gaps: of chunks
    std::vector<Slow> worst_;              // of chunks
    std::vector<std::int64_t> steps_;      // of steps
    std::vector<std::int64_t> preempted_;  // numbers of this rank's steps
};

}  // namespace

std::string reduced_text(Comm const& group, RankPart const& part, std::int64_t most, Detail detail) {
    JsonText text;
    for (std::size_t role = 0; role < part.info.roles.size(); ++role) {
        bool mine = false;
        for (auto const& lane : part.measured.lanes) mine = mine || lane.role == role;
        if (!part.info.roles[role].timed || group.max(std::int64_t{mine ? 1 : 0}) == 0) continue;
        Reducer steps(group, part, role);
        for (auto const& lane : part.measured.lanes) {
            if (lane.role != role) continue;
            steps.add(lane.duration_ns, lane.thread, lane.preempted);
            if (part.info.pace == Pace::chunks) steps.add_gaps(lane);
        }
        steps.write(text, "step", most, detail);
        for (std::size_t i = 0; i < part.marks.paths().size(); ++i) {
            Reducer phase(group, part, role);
            if (mine) phase.add(part.marks.series()[i].ns, 0);
            phase.write(text, "phase/" + part.marks.paths()[i], most, detail);
        }
    }
    return group.rank() == 0 ? text.text() : "";
}

}  // namespace octant
