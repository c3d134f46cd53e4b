// The record of a point, joined from what each rank and each group has.
#pragma once

#include "octant/record.hpp"

#include <string>

namespace octant {

struct PointFacts {
    KernelInfo const& info;
    Context const& context;
    Groups const& groups;
    Outcome const& outcome;
    Limits limits;
};

// Collective over the world; on rank 0 everything from "knobs" on is added to `text`, which is an open object. True on
// all ranks where every check of every group is right.
bool write_point(JsonText& text, PointFacts const& facts);

void write_knobs(JsonText& text, Knobs const& knobs);
[[nodiscard]] std::string processor_name();

}  // namespace octant
