// How samples are taken: one class for each pace.
#pragma once

#include "octant/measure.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace octant {

inline constexpr std::int64_t min_clock_costs = 20;      // a sample lasts at least this many readings of the clock
inline constexpr double burst_s = 0.05;                  // between two bursts the harness decides whether it has enough
inline constexpr std::int64_t no_doubt_ns = 20'000'000;  // longer than a time slice that is lost

struct Job {  // what is measured, on a rank that takes part
    Runnable& kernel;
    KernelInfo const& info;
    Context& context;
    Settings const& settings;
    bool alone;  // there is one group
};

struct Window {
    std::int64_t start_ns;   // of a burst, the same moment for all ranks
    std::int64_t budget_ns;  // when the point's time is over
};

class Pacing {  // one pace of one point; this class itself is a rank that takes no part
  public:
    Pacing() = default;
    Pacing(Pacing const&) = delete;
    Pacing& operator=(Pacing const&) = delete;
    virtual ~Pacing() = default;
    virtual void calibrate() {}  // collective over the group, as burst()
    virtual void burst(Window const&) {}
    // The series that the stopping rule looks at, as far as this rank has them: the first role's lanes, or on the
    // group's first rank the times of its steps.
    [[nodiscard]] virtual std::vector<std::vector<std::int64_t> const*> watched() const { return {}; }
    // Samples so far, of the lanes that lead or of this rank's group, whether this rank's are kept or not.
    [[nodiscard]] virtual std::int64_t taken() const { return 0; }
    [[nodiscard]] virtual double next_s() const { return 0; }  // that another burst needs at least
};

class Chunks final : public Pacing {  // each lane works alone, in bursts that begin together
  public:
    Chunks(Job job, Measurement& found);
    void calibrate() override;
    void burst(Window const& window) override;
    [[nodiscard]] std::vector<std::vector<std::int64_t> const*> watched() const override;
    [[nodiscard]] std::int64_t taken() const override;

  private:
    std::vector<std::int64_t> try_batches();
    bool repeat_three_times(std::vector<std::int64_t>& quickest, std::int64_t enough_ns);
    [[nodiscard]] bool leads(Lane const& lane) const { return lane.role == 0 || leaders_ == 0; }
    void work_alone(std::size_t number, std::int64_t start_ns, std::int64_t end_ns);
    [[nodiscard]] double clock_at_work(int lane) const;

    Job job_;
    Measurement& found_;
    std::vector<std::int64_t> next_;  // the next chunk's index, a lane
    std::vector<Watch> watches_;      // one for each lane
    int leaders_ = 0;                 // lanes of the first role: the other roles' work goes on until these are done
    std::atomic<int> busy_ = 0;
    double burst_s_ = burst_s;
};

// Decides after which samples the involuntary switches of this thread are read. A reading is a system call of 0.2 us,
// during which the partner of a short step waits.
class SwitchReadings {
  public:
    // Call once for each sample. `gap_ns`: from the end of the previous sample to the beginning of this one, of which
    // synchronisation explains `slack_ns`.
    [[nodiscard]] bool due(std::int64_t duration_ns, std::int64_t gap_ns, std::int64_t slack_ns) noexcept;

  private:
    std::int64_t typical_ns_ = 0;  // follows the median of the samples
};

// Shortest acceptable sample of `batch` steps, in ns, where a reading of the clock takes `reading_ns`.
[[nodiscard]] std::int64_t min_sample_ns(std::int64_t batch, Sync sync, std::int64_t reading_ns) noexcept;

class SynchronisedPacing : public Pacing {  // what steps and whole repetitions share
  public:
    SynchronisedPacing(Job job, Measurement& found);
    [[nodiscard]] std::vector<std::vector<std::int64_t> const*> watched() const override;
    [[nodiscard]] std::int64_t taken() const override { return taken_; }

  protected:
    [[nodiscard]] Role const& role() const { return job_.info.roles[found_.lanes[0].role]; }
    [[nodiscard]] bool polls() const { return role().waits == Waits::polls; }
    void restart_intervals();          // before the first sample of a row: gaps and switches count from here
    void sample();                     // one, timed
    void collect(std::int64_t count);  // the slowest times of the last samples, at the group's first rank

    Job job_;
    Measurement& found_;
    std::int64_t next_ = 0;   // the next step's index
    std::int64_t taken_ = 0;  // samples
    std::int64_t last_end_ns_ = 0;
    Watch watch_;

  private:
    void collect_switches(std::int64_t count);

    std::int64_t switches_ = 0;
    SwitchReadings switch_readings_;
    std::vector<std::int64_t> last_ns_;  // of this burst; zeroes on ranks of other roles than the first
    std::vector<std::int64_t> steps_ns_;
};

class Steps final : public SynchronisedPacing {  // in bursts of as many steps on all ranks of the group
  public:
    using SynchronisedPacing::SynchronisedPacing;
    void calibrate() override;
    void burst(Window const& window) override;

  private:
    std::int64_t quickest_batch(std::int64_t times);
    [[nodiscard]] std::int64_t next_count(std::int64_t taken, std::int64_t end_ns) const;
    void round(std::int64_t count);
    std::int64_t last_step_ns_ = 1'000'000;  // with synchronisation and preparation
};

class Whole final : public SynchronisedPacing {  // one repetition a burst, verified
  public:
    using SynchronisedPacing::SynchronisedPacing;
    void burst(Window const& window) override;
    [[nodiscard]] double next_s() const override { return static_cast<double>(longest_ns_) * 1e-9; }

  private:
    std::int64_t longest_ns_ = 0;  // with preparation and verification
};

[[nodiscard]] std::unique_ptr<Pacing> pacing_of(Job const& job, Measurement& found);

// Waits for a moment; sleeps where cores are shared.
void pause_until(std::int64_t target_ns, bool share_cores);
// Whether this thread had an involuntary context switch since `switches` was read.
[[nodiscard]] bool switched_out(std::int64_t& switches);
// Keeps a sample; `looks`: whether the thread was switched out since `switches` is asked for.
void keep(Lane& lane, std::int64_t begin_ns, std::int64_t end_ns, bool looks, std::int64_t& switches);

}  // namespace octant
