// The largest error of many, of which a NaN is the worst.
#pragma once

namespace octant {

// A comparison with a NaN is false, so that one stays; std::max would lose it.
inline void keep_worst(double& worst, double error) noexcept { worst = error <= worst ? worst : error; }

}  // namespace octant
