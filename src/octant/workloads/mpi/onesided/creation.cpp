// A window made, fenced and freed.
#include "kernels/pattern.hpp"
#include "rows.hpp"
#include "window.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace onesided {
namespace {

class Creation {
  public:
    static octant::KernelInfo info() {
        octant::KernelInfo info = common_info();
        info.phases = {"make", "fence", "free"};
        return info;
    }
    explicit Creation(octant::Context& context)
        : context_(context),
          kind_(context.knobs.word("win")),
          bytes_(static_cast<std::size_t>(context.knobs.integer("bytes"))),
          checked_(std::min(bytes_, max_checked)) {
        if (brings_memory(kind_))
            context.claim_outside(static_cast<double>(bytes_));
        else
            memory_.emplace(context.buffer<std::byte>(std::max<std::size_t>(1, bytes_)));
        if (memory_) std::ranges::fill(memory_->span(), std::byte{0});
    }
    void set_up() { check_ranks(context_.group, kind_); }
    void step() {
        std::optional<Window> window;
        {
            auto const mark = context_.phase(make);
            window.emplace(context_.group, kind_, memory_ ? memory_->data() : nullptr, bytes_);
        }
        {
            auto const mark = context_.phase(fence);
            octant::check(MPI_Win_fence(0, window->get()));
        }
        auto const mark = context_.phase(free);
        window->free();
    }
    [[nodiscard]] std::size_t role(int) const { return 0; }
    [[nodiscard]] octant::Counts work(std::size_t) const {
        return {{"rounds", context_.group.rank() == 0 ? 1 : 0}, {"operations", context_.group.rank() == 0 ? 1 : 0}};
    }
    // A window like those that were timed takes what the next rank puts into it.
    octant::Results verify() {
        octant::Comm const& group = context_.group;
        int const next = (group.rank() + 1) % group.size(), before = (group.rank() + group.size() - 1) % group.size();
        Window window(group, kind_, memory_ ? memory_->data() : nullptr, bytes_);
        std::span const mine(reinterpret_cast<std::uint8_t*>(window.data()), checked_);
        octant::poison(mine, before, 0);
        std::vector<std::uint8_t> sent(checked_);
        octant::fill_pattern(sent, group.rank(), corrupted_ ? 1 : 0);
        octant::check(MPI_Win_fence(0, window.get()));
        int const count = static_cast<int>(checked_);
        octant::check(
            MPI_Put(sent.data(), count, MPI_BYTE, next, window.begin_of(next), count, MPI_BYTE, window.get()));
        octant::check(MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get()));
        octant::Mismatch found;
        found.compare(mine, group.rank(), before, 0);
        if (corrupted_ && checked_ == 0) found.add("a window of 0 bytes contains data");
        return {{"wrong bytes received", found.count(), "1", 0, found.where()}};
    }
    void corrupt(std::size_t) { corrupted_ = true; }

  private:
    enum Phases : std::size_t { make, fence, free };
    static constexpr std::size_t max_checked = 4096;

    octant::Context& context_;
    std::string kind_;
    std::size_t bytes_, checked_;
    std::optional<octant::Buffer<std::byte>> memory_;
    bool corrupted_ = false;
};

}  // namespace

octant::Row window_row() { return octant::row<Creation>("window"); }

}  // namespace onesided
