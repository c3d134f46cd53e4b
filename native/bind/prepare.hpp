// Applies the plan to this process and reads every setting back. A setting without effect is an error.
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

// Hardware threads that a thread may use; 0: the calling one. Empty if there is no such thread.
[[nodiscard]] Numbers allowed_cpus(int thread = 0);

// Memory policy of the calling thread as the system reports it: "bind:0-1", "default"; "" where it reports none.
[[nodiscard]] std::string memory_policy();

}  // namespace octant::bind
