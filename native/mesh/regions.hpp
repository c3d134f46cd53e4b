// Named regions of Octant's profiler; without it they do nothing.
#pragma once

#include "profiler/octant_profile.h"

namespace mesh {

class Region {
public:
    explicit Region(char const* name) {
        if (octant_region_begin) octant_region_begin(name);
    }
    ~Region() {
        if (octant_region_end) octant_region_end();
    }
    Region(Region const&) = delete;
    Region& operator=(Region const&) = delete;
};

}  // namespace mesh
