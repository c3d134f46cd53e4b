// When operations may be made, and when they have ended: each way of completion that MPI has.
#pragma once

#include "octant/mpi.hpp"
#include "window.hpp"

#include <string>
#include <vector>

namespace onesided {

enum class Completion { flush, flush_local, fence, pscw, lock, lock_exclusive, lock_all };
[[nodiscard]] Completion completion_of(std::string const& word, bool local);

class RankGroup {  // owns an MPI_Group of ranks of a communicator
  public:
    RankGroup(octant::Comm const& comm, std::vector<int> ranks);
    RankGroup(RankGroup const&) = delete;
    RankGroup& operator=(RankGroup const&) = delete;
    ~RankGroup();
    [[nodiscard]] MPI_Group get() const noexcept { return handle_; }
    [[nodiscard]] bool empty() const noexcept { return handle_ == MPI_GROUP_EMPTY; }

  private:
    MPI_Group handle_ = MPI_GROUP_EMPTY;
};

// The calls around the operations of a step, on each rank that takes part.
class Epochs {
  public:
    Epochs(Completion completion, Window const& window, octant::Comm const& comm, std::vector<int> const& targets,
           std::vector<int> const& sources);

    // Before the first step and after the last one; what is put is in place after close() and a barrier.
    void open() const;
    void close() const;
    void abandon() const noexcept;  // as close(), without a report of errors
    // Around the operations of a step; where there is an epoch for each target, those around one target's.
    void begin() const {
        if (completion_ != Completion::flush && completion_ != Completion::fence) begin_epoch_of_all();
    }
    void end() const {
        if (completion_ == Completion::flush && only_target_ >= 0)
            octant::check(MPI_Win_flush(only_target_, window_));
        else
            end_epoch_of_all();
    }
    [[nodiscard]] bool of_each_target() const {
        return completion_ == Completion::lock || completion_ == Completion::lock_exclusive;
    }
    void begin(int target) const;
    void end(int target) const;

  private:
    [[nodiscard]] int closed() const noexcept;  // MPI's code
    void begin_epoch_of_all() const;
    void end_epoch_of_all() const;
    void flush() const;

    Completion completion_;
    MPI_Win window_;
    int only_target_;  // -1: there are several, or none
    bool acts_;        // there is one
    RankGroup targets_, sources_;
};

}  // namespace onesided
