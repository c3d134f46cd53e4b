// A chain of additions, which take one cycle each: as a phase of a step, it measures the core clock.
#pragma once

#include "octant/kernel.hpp"

#include <cstdint>

namespace core {

class Additions {
  public:
    static constexpr std::int64_t each = 16'384;

    void run() {
        sum_ = add_up(sum_, each);
        ++runs_;
    }
    [[nodiscard]] octant::Result check() const {
        return {"difference of the sum", sum_ == by * static_cast<std::uint64_t>(runs_ * each) ? 0.0 : 1.0, "1", 0};
    }
    void spoil() { ++sum_; }

  private:
    static constexpr std::uint64_t by = 3;

    static std::uint64_t add_up(std::uint64_t x, std::int64_t count) {
        std::uint64_t step = by;
        asm volatile("" : "+r"(step));  // in a register: recent cores add constants while renaming, at no cycle at all
        for (std::int64_t i = 0; i < count; i += 8)
#pragma GCC unroll 8
            for (int k = 0; k < 8; ++k) {
                x += step;
                asm volatile("" : "+r"(x));
            }
        return x;
    }

    std::uint64_t sum_ = 0;
    std::int64_t runs_ = 0;
};

}  // namespace core
