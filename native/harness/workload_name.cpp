// Compiled into each program, with the name of its folder.
#include "octant/kernel.hpp"

namespace octant {

char const* const workload_name = OCTANT_WORKLOAD;

}  // namespace octant
