// A hardware thread for each thread of each rank of a node.
#pragma once

#include "octant/mpi.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace octant {

using Masks = std::vector<std::vector<int>>;  // hardware threads that each of our threads may use

// Throws Refusal: OpenMP gives fewer threads than asked. Each would be missing from the figure without a word.
[[nodiscard]] Masks masks_of_threads(int threads);

class Restored {  // gives the threads their masks back, however a point ends
  public:
    explicit Restored(Masks masks) : masks_(std::move(masks)) {}
    Restored(Restored const&) = delete;
    Restored& operator=(Restored const&) = delete;
    ~Restored();
    [[nodiscard]] Masks const& masks() const noexcept { return masks_; }

  private:
    Masks masks_;
};

struct Pinned {
    bool shared;   // more threads than hardware threads: nobody is pinned
    bool refused;  // the system did not let us: measured all the same, and flagged
};

// Pins the node's threads to seats of their own, if there are enough. A library's threads inherit their mask from the
// one that starts them, so for these each thread gets all of its rank's seats. Where masks offer more hardware threads
// than are needed, the `seed` of the node's first rank decides which are taken. Collective over the node; a rank that
// does not `work` needs no seat.
[[nodiscard]] Pinned pin_threads(Comm const& node, Masks const& before, bool pin, bool library_threads, bool works,
                                 std::uint64_t seed);

}  // namespace octant
