// The parts of a point's record, as JSON text: what one rank, or one group, contributes.
#pragma once

#include "octant/record.hpp"

#include <string>

namespace octant {

struct RankPart {  // what a rank's series are made of
    KernelInfo const& info;
    Measurement const& measured;
    Marks const& marks;
    Readings const& readings;
    int rank, group;
};

// This rank's series, with commas between them; none of roles that are not timed. `coalesced`: so many neighbouring
// samples of a lane become one, a rest at the end is left out.
[[nodiscard]] std::string series_text(RankPart const& part, std::int64_t coalesced = 1);

// Of the readings alone, at most `most` values of each: then every n-th, and the series says `"every":n`.
[[nodiscard]] std::string readings_text(RankPart const& part, std::size_t most);

// What the reduced form contains in addition to count, sum, minimum and maximum of each rank.
enum class Detail { lists, sketches, sums };
// Collective over the group; the text is the first rank's. `most` bytes for each list of the slowest ranks' times.
[[nodiscard]] std::string reduced_text(Comm const& group, RankPart const& part, std::int64_t most, Detail detail);

// The group's entries of "work"; collective over the group, the text is the first rank's.
[[nodiscard]] std::string work_text(Comm const& group, RankPart const& part, std::vector<Counts> const& work);

}  // namespace octant
