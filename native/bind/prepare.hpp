// Gives this process what its plan says, reading everything back. What was not given is refused, never clamped.
#pragma once

#include "plan.hpp"

namespace octant::bind {

void refuse_raised_rights();
void die_with(std::size_t parent);
void bind_cpus(Numbers const& cpus, bool widen);
void bind_memory(Memory const& memory);
void set_openmp(RankPlan const& rank);
void set_heap(std::string const& heap);
void set_segments(Plan const& plan);
void disable_thp();

}  // namespace octant::bind
