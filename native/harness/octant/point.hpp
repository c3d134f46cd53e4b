// One point: the kernel is built, measured, verified and recorded.
#pragma once

#include "octant/kernel.hpp"
#include "octant/record.hpp"

namespace octant {

// Collective over the world. `progress` is what the kernel's progress() goes to; `seed` decides which hardware threads
// are taken, where there are more than needed. Throws Refusal: what this system does not have, on every rank.
[[nodiscard]] Exit measure_point(Session const& session, Row const& row, Knobs const& knobs, Recorder& recorder,
                                 Progress& progress, std::uint64_t seed);

}  // namespace octant
