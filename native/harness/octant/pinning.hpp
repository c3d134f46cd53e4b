// Binding of threads to hardware threads.
#pragma once

#include "octant/mpi.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace octant {

using Masks = std::vector<std::vector<int>>;  // allowed hardware threads of each thread

// Throws Refusal: OpenMP provides fewer threads than requested.
[[nodiscard]] Masks masks_of_threads(int threads);

class ScopedMasks {  // restores the masks of the threads at the end of a point
  public:
    explicit ScopedMasks(Masks masks) : masks_(std::move(masks)) {}
    ScopedMasks(ScopedMasks const&) = delete;
    ScopedMasks& operator=(ScopedMasks const&) = delete;
    ~ScopedMasks();
    [[nodiscard]] Masks const& masks() const noexcept { return masks_; }

  private:
    Masks masks_;
};

struct Pinned {
    bool shared;   // more threads than hardware threads: no binding
    bool refused;  // refused by the system: measured without binding, with a caveat
};

// Binds the threads of a node to separate hardware threads, if there are enough. Threads of a library inherit the mask
// of their creator; with such libraries each thread gets all hardware threads of its rank. If the masks contain more
// hardware threads than needed, the `seed` of the first rank of the node selects them. Collective over the node; idle
// ranks need none.
[[nodiscard]] Pinned pin_threads(Comm const& node, Masks const& before, bool pin, bool library_threads, bool works,
                                 std::uint64_t seed);

}  // namespace octant
