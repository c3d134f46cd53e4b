// Arrays of doubles in which every lane has a part of its own, and what is in them.
#pragma once

#include "loops.hpp"
#include "octant/context.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stream {

inline constexpr double guard = -7.25;  // no loop writes it

// Ten scattered bits: no power-of-two period, so that a result from another place is a wrong one. Small whole numbers,
// so that each result is exact in whatever order it is computed.
[[nodiscard]] inline double b_at(std::size_t i) {
    return static_cast<double>((static_cast<std::uint32_t>(i) * 0x9E3779B1U) >> 22);
}
[[nodiscard]] inline double c_at(std::size_t i) {
    return static_cast<double>((static_cast<std::uint32_t>(i) * 0x85EBCA6BU) >> 22);
}

enum class Guards { none, lines };

// Every lane's part begins `skew` doubles after the begin of a page, so that no page has data of two lanes. What is
// written has a line of guards on both sides.
class Array {
  public:
    Array(octant::Context& context, std::ptrdiff_t parts, std::ptrdiff_t length, std::ptrdiff_t skew, Guards guards)
        : length_(length),
          first_(skew + (guards == Guards::lines ? page : 0)),
          pitch_((skew + length + 2 * line + page - 1) / page * page),
          data_(context.buffer<double>(size(parts, guards))) {
        if (there())
            context.watched.push_back(std::as_bytes(std::span(part(0), part(static_cast<int>(parts) - 1) + length)));
    }

    [[nodiscard]] bool there() const noexcept { return length_ > 0; }
    [[nodiscard]] double* part(int number) const noexcept {
        return data_.data() + (there() ? first_ + number * pitch_ : 0);
    }

    void guard_part(int number) const {
        for (std::ptrdiff_t i = 1; there() && i <= line; ++i) part(number)[-i] = part(number)[length_ + i - 1] = guard;
    }
    [[nodiscard]] double guards_written(int number) const {
        double wrong = 0;
        for (std::ptrdiff_t i = 1; there() && i <= line; ++i)
            wrong += (part(number)[-i] == guard ? 0 : 1) + (part(number)[length_ + i - 1] == guard ? 0 : 1);
        return wrong;
    }

  private:
    [[nodiscard]] std::size_t size(std::ptrdiff_t parts, Guards guards) const {
        std::ptrdiff_t const last = first_ + (parts - 1) * pitch_ + length_ + (guards == Guards::lines ? line : 0);
        return there() ? static_cast<std::size_t>(last) : 0;
    }

    std::ptrdiff_t length_, first_, pitch_;
    octant::Buffer<double> data_;
};

}  // namespace stream
