// A random cycle through all lines of a piece of memory, which remembers its order: what was followed can be proven.
#pragma once

#include "chase.hpp"

#include "kernels/random.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace latency {

class alignas(64) Chain {
  public:
    // Memory of chains over `lines` cache lines in addition to the lines: their order, and a bit for each line during
    // the check.
    [[nodiscard]] static double bytes_for(std::size_t lines) noexcept {
        return (sizeof(std::uint32_t) + 0.125) * static_cast<double>(lines);
    }
    void link(Node* base, std::size_t count, std::uint64_t seed) {
        base_ = base;
        for (std::size_t i = 0; i < count; ++i) base[i].next = nullptr;  // first touch, in order
        order_.resize(count);
        std::iota(order_.begin(), order_.end(), 0U);
        octant::Random random(seed);
        for (std::size_t i = count - 1; i > 0; --i) std::swap(order_[i], order_[random.below(i + 1)]);
        for (std::size_t i = 0; i < count; ++i) base[order_[i]].next = base + order_[i + 1 < count ? i + 1 : 0];
        at_ = base + order_[0];
    }

    void chunk() {
        at_ = follow(at_, loads_a_chunk);
        loads_ += loads_a_chunk;
    }

    // Three facts: the order names every line exactly once, every line points to the next of the order, and the timed
    // loads ended where so many steps along the order must end. Together: one cycle, and it was really followed.
    [[nodiscard]] double wrong() const {
        std::size_t const count = order_.size();
        std::vector<bool> seen(count, false);
        double errors = 0;
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t const from = order_[i], to = order_[i + 1 < count ? i + 1 : 0];
            if (from >= count || seen[from] || base_[from].next != base_ + to) ++errors;
            if (from < count) seen[from] = true;
        }
        if (at_ != base_ + order_[static_cast<std::size_t>(loads_) % count]) ++errors;
        return errors;
    }

    // Two places of the order exchange what follows them: two cycles of half the lines each.
    void spoil() { std::swap(base_[order_[0]].next, base_[order_[order_.size() / 2]].next); }

  private:
    Node* base_ = nullptr;
    Node const* at_ = nullptr;
    std::int64_t loads_ = 0;
    std::vector<std::uint32_t> order_;
};

}  // namespace latency
