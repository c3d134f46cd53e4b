// N-1 where every failure makes new routes: shortest paths over what is left, equally over equals.
#pragma once

#include "engine/solvers.hpp"

namespace octant::network {

// As `sweep_failures`; `backs` are the opposite directions of `links`, -1 where there is none. Exact: for each
// destination only the vertices whose way the failure lengthens or splits anew are looked at again.
[[nodiscard]] std::vector<Failure> sweep_recomputed(Topology const& topology, Traffic const& traffic,
                                                    UnitCost const& shape, std::vector<LinkId> const& links,
                                                    std::vector<LinkId> const& backs, double left);

// The same for uniform traffic, one cable of each kind; nothing where it is not known what is alike.
[[nodiscard]] std::optional<std::vector<Failure>> sweep_symmetric_failures(
    Topology const& topology, Traffic const& traffic, UnitCost const& shape, std::vector<LinkId> const& links,
    std::vector<LinkId> const& backs, double left);

}  // namespace octant::network
