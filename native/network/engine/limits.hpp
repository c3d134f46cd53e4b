// Limits of the size of a network, with arithmetic that cannot overflow.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace octant::network {

inline constexpr std::int64_t max_nodes = 1 << 20;
inline constexpr std::int64_t max_vertices = 1 << 22;      // nodes and switches
inline constexpr std::int64_t max_links = 1 << 25;         // of all planes and both directions, with those of the nodes
inline constexpr std::size_t max_dimensions = 8;           // of a lattice; levels of a fat tree
inline constexpr std::size_t max_classes = 256;            // of links
inline constexpr std::int64_t max_ps = 1'000'000'000'000;  // of a latency
inline constexpr std::int64_t max_ranks = 1 << 24;

// A number of things, 0 or more. Sums and products stay at the largest number instead of overflowing.
class Count {
  public:
    constexpr Count(std::int64_t value) : value_(value) {}
    [[nodiscard]] constexpr std::int64_t value() const { return value_; }
    friend constexpr Count operator*(Count a, Count b) {
        std::int64_t product = 0;
        return __builtin_mul_overflow(a.value_, b.value_, &product) ? most() : Count(product);
    }
    friend constexpr Count operator+(Count a, Count b) {
        std::int64_t sum = 0;
        return __builtin_add_overflow(a.value_, b.value_, &sum) ? most() : Count(sum);
    }

  private:
    [[nodiscard]] static constexpr Count most() { return std::numeric_limits<std::int64_t>::max(); }
    std::int64_t value_;
};

// The product of numbers that are each 1 … `max_nodes`; `what` names one of them.
[[nodiscard]] Count product(std::string_view shape, std::string_view what, std::span<int const> numbers);

// Sizes that follow from a shape. Topologies are built from this, so that sizes are checked before any allocation.
struct Extent {
    std::string_view shape;  // "torus"
    Count nodes;
    Count vertices;       // nodes included
    Count fabric_links;   // those of the nodes not included
    std::size_t classes;  // of fabric links; 0: one at least
};

// Throws std::invalid_argument where a number is not 1 … `max_nodes`.
void require_part(std::string_view shape, std::string_view what, std::int64_t number);
// Throws std::invalid_argument where the shape has no node or is larger than the limits.
void require_extent(Extent const& extent);

}  // namespace octant::network
