// A random cycle through the lines of a buffer that is written in the order of its addresses: as quick to build as the
// memory is to write. The line at place p of the cycle is g(f^p(0)), with f a congruential generator of full period and
// g a mixing of the bits that has an inverse, so that what follows a line is computed from the line itself.
#pragma once

#include "octant/kernel.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace core {

inline constexpr int max_chains = 64;

struct alignas(64) Node {
    Node const* next;
};

// f: x -> factor x + shift, modulo a power of two.
struct Affine {
    std::uint64_t factor = 1, shift = 0;
    [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const { return factor * x + shift; }
    [[nodiscard]] Affine after(Affine first) const { return {factor * first.factor, factor * first.shift + shift}; }
    [[nodiscard]] Affine power(std::uint64_t times) const;
};

// Chains through one buffer, which follow one another along its cycle at equal distances.
class Cycle {
  public:
    Cycle(octant::Context& context, int chains);  // of the knobs `bytes` and `seed`

    std::array<Node const*, max_chains> at{};  // where each chain is

    void count(int chains, std::int64_t loads);  // that each of the first chains followed so many

    // Lines that the cycle leaves out, visits twice or links elsewhere, and chains that are not where their loads lead.
    [[nodiscard]] octant::Result check() const {
        return {"wrong links of the cycle, or chains at a wrong position", wrong(), "1", 0};
    }
    void spoil() { nodes_[lines_ / 2].next = nodes_.data() + lines_ / 2; }

  private:
    [[nodiscard]] double wrong() const;
    [[nodiscard]] std::uint64_t mixed(std::uint64_t x) const;
    [[nodiscard]] std::uint64_t unmixed(std::uint64_t x) const;

    std::uint64_t lines_;
    int bits_, chains_;
    Affine f_;
    octant::Buffer<Node> nodes_;
    std::array<std::uint64_t, max_chains> loads_{};
};

}  // namespace core
