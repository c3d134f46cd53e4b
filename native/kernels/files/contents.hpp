// The bytes of a file: each place, writer and pass has its own, and they do not compress.
#pragma once

#include "kernels/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace octant {

[[nodiscard]] constexpr std::uint64_t file_word(std::uint64_t index, std::uint64_t stream) noexcept {
    return mixed((index + 1) * golden_step + stream * 0xD1B54A32D192ED03U);
}

// `offset`, of the first byte in the file, is a multiple of a word.
inline void fill_contents(std::span<std::byte> bytes, std::uint64_t offset, std::uint64_t stream) noexcept {
    constexpr std::size_t word = sizeof(std::uint64_t);
    for (std::size_t at = 0; at < bytes.size(); at += word) {
        std::uint64_t const value = file_word((offset + at) / word, stream);
        std::memcpy(bytes.data() + at, &value, std::min(word, bytes.size() - at));
    }
}

// Counts the bytes that are not as they should be, and remembers the first.
class WrongBytes {
  public:
    void compare(std::span<std::byte const> bytes, std::uint64_t offset, std::uint64_t stream) noexcept {
        constexpr std::size_t word = sizeof(std::uint64_t);
        for (std::size_t at = 0; at < bytes.size(); at += word) {
            std::uint64_t const value = file_word((offset + at) / word, stream);
            std::size_t const length = std::min(word, bytes.size() - at);
            if (std::memcmp(bytes.data() + at, &value, length) == 0) continue;
            std::byte const* const right = reinterpret_cast<std::byte const*>(&value);
            for (std::size_t i = 0; i < length; ++i)
                if (bytes[at + i] != right[i] && count_++ == 0) first_ = offset + at + i;
        }
    }
    [[nodiscard]] std::int64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t first() const noexcept { return first_; }

  private:
    std::int64_t count_ = 0;
    std::uint64_t first_ = 0;
};

}  // namespace octant
