// The bytes that a message is filled with, and the comparison of what arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace octant {

// A stale buffer of the last iteration, a shifted block and a block of another rank all differ from what is expected;
// blocks that are swapped too, whatever power of two they lie apart.
[[nodiscard]] constexpr std::uint8_t pattern_byte(int rank, std::size_t index, int iteration) noexcept {
    auto const at = static_cast<unsigned>(index + (index >> 8U) + (index >> 16U) + (index >> 24U));
    return static_cast<std::uint8_t>(37U * static_cast<unsigned>(rank) + 7U * at +
                                     13U * static_cast<unsigned>(iteration) + 1U);
}

inline void fill_pattern(std::span<std::uint8_t> bytes, int rank, int iteration, std::size_t first_index = 0) noexcept {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern_byte(rank, first_index + i, iteration);
}

// Before anything is received: no byte is what it should become.
inline void poison(std::span<std::uint8_t> bytes, int rank, int iteration, std::size_t first_index = 0) noexcept {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(~pattern_byte(rank, first_index + i, iteration));
}

// Counts what is not as expected and remembers the first of it.
class Mismatch {
  public:
    // `first_index`: of `bytes` in a message of `whole` bytes; 0: these are its last.
    void compare(std::span<std::uint8_t const> bytes, int mine, int sender, int iteration, std::size_t first_index = 0,
                 std::size_t whole = 0) {
        for (std::size_t i = 0; i < bytes.size(); ++i)
            if (bytes[i] != pattern_byte(sender, first_index + i, iteration) && count_++ == 0)
                where_ = "rank " + std::to_string(mine) + ", byte " + std::to_string(first_index + i) + " of " +
                         std::to_string(whole == 0 ? first_index + bytes.size() : whole) + " from rank " +
                         std::to_string(sender);
    }
    // One that is wrong; `where` in words.
    void add(std::string const& where) {
        if (count_ == 0) where_ = where;
        count_ += 1;
    }
    [[nodiscard]] double count() const noexcept { return count_; }
    [[nodiscard]] std::string const& where() const noexcept { return where_; }

  private:
    double count_ = 0;
    std::string where_;
};

}  // namespace octant
