// The operations of a pattern by one rank, their windows and buffers, and the check of what they did.
#pragma once

#include "element.hpp"
#include "epochs.hpp"
#include "kernels/pattern.hpp"
#include "links.hpp"
#include "rows.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace onesided {

class Transfers {
  public:
    Transfers(octant::Context& context, Pattern pattern);  // throws Refusal: knobs that do not fit the pattern
    Transfers(Transfers const&) = delete;
    Transfers& operator=(Transfers const&) = delete;
    ~Transfers();
    void set_up();

    // One round for each of `window`, and their completion; then the next places.
    void step();
    void barrier() const { ranks_->barrier(); }  // of those that take part

    [[nodiscard]] bool plays() const noexcept { return plays_; }
    [[nodiscard]] bool acts() const noexcept { return !links_.out.empty(); }
    [[nodiscard]] std::size_t role() const;
    [[nodiscard]] octant::Counts work(std::size_t role) const;
    octant::Results verify();
    // 0: one operation is left out; 1: what the target resets, it resets after the operations; 2: values are put
    // where they should be accumulated; 3: of a counter's values two were found once too often and too seldom.
    void corrupt(std::size_t fault) { fault_ = static_cast<int>(fault); }

  private:
    struct Ready {  // a link's target and places, once there are a window and buffers
        int target;
        std::byte *mine, *old;
        MPI_Aint there;
    };
    [[nodiscard]] bool changes() const { return pattern_.operation >= Operation::accumulate; }
    [[nodiscard]] bool single() const { return pattern_.operation >= Operation::fetch_and_op; }
    [[nodiscard]] bool fetches() const { return pattern_.operation >= Operation::get_accumulate; }
    [[nodiscard]] bool targets_one_rank() const {
        return pattern_.shape == Shape::all_to_one;
    }  // all reach the same places
    [[nodiscard]] bool counts() const { return targets_one_rank() && pattern_.operation == Operation::fetch_and_op; }
    void refuse_misfits(octant::Knobs const& knobs) const;
    void touch();
    void perform(std::size_t slot);
    void move(std::size_t first, std::size_t last, std::size_t slot) const;
    template <Operation operation>
    void move_as(std::size_t first, std::size_t last, std::size_t slot) const;
    template <Operation operation>
    void one(Ready const& link, std::size_t offset) const;
    void verify_moved(octant::Mismatch& found, int pass);
    void verify_changed(octant::Mismatch& found);
    void verify_count(octant::Mismatch& found);
    void own(std::function<void()> const& body) const;
    void settle(std::function<void()> const& reset, std::function<void()> const& act) const;
    [[nodiscard]] std::byte* place(std::byte* base, std::size_t region, std::size_t slot) const {
        return base + region * region_bytes_ + slot * stride_;
    }

    // Rank in the group of a participating rank.
    [[nodiscard]] int name_of(int rank) const { return of_two(pattern_.shape) && rank == 1 ? group_.size() - 1 : rank; }

    static constexpr std::size_t compared = 16;  // behind the new value: the value that is compared with

    octant::Comm const& group_;
    Pattern pattern_;
    std::string kind_;
    Completion completion_;
    Element element_;
    std::size_t bytes_, stride_, window_count_;
    int values_;
    bool barrier_inside_, plays_;
    Links links_;
    std::size_t slots_ = 0, region_bytes_ = 0;
    std::optional<octant::Buffer<std::byte>> memory_;           // that a window of the caller's memory offers
    std::optional<octant::Buffer<std::byte>> local_, fetched_;  // by link: what is put or got; what was in place
    std::optional<octant::Comm> ranks_;
    std::optional<Window> window_;
    std::optional<Epochs> epochs_;
    std::vector<Ready> ready_;  // by link
    std::size_t slot_ = 0;
    int fault_ = -1;
};

}  // namespace onesided
