// Phase marks, which time parts of a step. A mark costs two clock readings and two additions into preallocated memory;
// switched off, a branch.
#pragma once

#include "octant/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace octant {

class Marks;

class [[nodiscard]] Mark {  // a phase lasts from its construction to its end of scope; times include nested phases
  public:
    Mark(Marks* marks, std::size_t phase) noexcept;  // nullptr: marks are off
    Mark(Mark const&) = delete;
    Mark& operator=(Mark const&) = delete;
    ~Mark();

  private:
    Marks* marks_;
    std::size_t phase_, outer_ = 0;
    std::int64_t excluded_ns_ = 0, begin_ns_ = 0;
};

struct PhaseSeries {
    std::vector<std::int64_t> ns, entries;  // of each sample that was measured with marks on
};

class Marks {  // of one rank; only the thread that calls step() marks
  public:
    static constexpr std::size_t outside = SIZE_MAX;

    // `paths`: the parent of "solve/halo" must be among them. Memory for `samples` is allocated here.
    explicit Marks(std::vector<std::string> paths = {}, std::int64_t samples = 0);

    [[nodiscard]] Mark mark(std::size_t phase) noexcept { return {on_ ? this : nullptr, phase}; }
    void exclude(std::int64_t ns) noexcept { excluded_ns_ += ns; }  // from all open phases

    void switch_on(bool on) noexcept { on_ = on && !paths_.empty(); }
    void start() noexcept;                // of a sample
    void keep(std::int64_t duration_ns);  // end of a sample of this duration
    // Share of the marks in the fastest sample, if one mark costs `mark_ns`.
    [[nodiscard]] double share(double mark_ns) const noexcept;

    [[nodiscard]] std::vector<std::string> const& paths() const noexcept { return paths_; }
    [[nodiscard]] std::vector<PhaseSeries> const& series() const noexcept { return series_; }
    [[nodiscard]] std::string current() const { return current_ < paths_.size() ? paths_[current_] : ""; }

  private:
    friend class Mark;
    struct Total {
        std::int64_t ns = 0, entries = 0;
    };
    std::vector<std::string> paths_;
    std::vector<Total> totals_;
    std::vector<PhaseSeries> series_;
    bool on_ = false;
    std::size_t current_ = outside;
    std::int64_t excluded_ns_ = 0;
    std::int64_t all_entries_ = 0, samples_ = 0, quickest_ns_ = INT64_MAX;
};

inline Mark::Mark(Marks* marks, std::size_t phase) noexcept : marks_(marks), phase_(phase) {
    if (marks_ == nullptr) return;
    outer_ = marks_->current_;
    marks_->current_ = phase_;
    excluded_ns_ = marks_->excluded_ns_;
    begin_ns_ = now_ns();
}

inline Mark::~Mark() {
    if (marks_ == nullptr) return;
    std::int64_t const end_ns = now_ns();
    Marks::Total& total = marks_->totals_[phase_];
    total.ns += end_ns - begin_ns_ - (marks_->excluded_ns_ - excluded_ns_);
    total.entries += 1;
    marks_->current_ = outer_;
}

struct MarkQuality {
    double mark_ns;   // median cost of one mark
    double empty_ns;  // median time that an empty phase reads
};

[[nodiscard]] MarkQuality measure_marks();

}  // namespace octant
