// One point: the kernel is built, measured, verified and recorded.
#pragma once

#include "octant/kernel.hpp"
#include "octant/record.hpp"

namespace octant {

// Collective over the world. `progress` receives the kernel's progress(); `seed` selects the hardware threads if there
// are more than needed. Throws Refusal on every rank: not available on this system.
[[nodiscard]] Exit measure_point(Session const& session, Row const& row, Knobs const& knobs, Recorder& recorder,
                                 Progress& progress, std::uint64_t seed);

}  // namespace octant
