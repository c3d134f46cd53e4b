// The packed form of the file that the profiler leaves for one process (native/profiler/packed_format.h).
#pragma once

#include <string>
#include <vector>

namespace octant::bind {

// Appends the packed form of an open file to `packed`, or returns why it has none; `packed` is then unchanged. The file
// may end anywhere: what is missing counts as unused. It is read with pread(2), since a mapping would allocate memory
// for the parts of the file that have none.
[[nodiscard]] std::string pack_profile(int file, std::vector<char>& packed);

}  // namespace octant::bind
