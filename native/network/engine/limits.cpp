#include "engine/limits.hpp"

namespace octant::network {

namespace {

void require_at_most(std::string_view shape, std::string_view what, Count count, std::int64_t most) {
    if (count.value() <= most) return;
    throw std::invalid_argument("cannot build a " + std::string(shape) + " network (more than " + std::to_string(most) +
                                " " + std::string(what) + "); try smaller numbers");
}

}  // namespace

void require_part(std::string_view shape, std::string_view what, std::int64_t number) {
    if (number >= 1 && number <= max_nodes) return;
    throw std::invalid_argument("cannot build a " + std::string(shape) + " network with " + std::to_string(number) +
                                " " + std::string(what) + "; try 1 to " + std::to_string(max_nodes));
}

Count product(std::string_view shape, std::string_view what, std::span<int const> numbers) {
    Count result = 1;
    for (int const number : numbers) {
        require_part(shape, what, number);
        result = result * number;
    }
    return result;
}

void require_extent(Extent const& extent) {
    if (extent.nodes.value() < 1) {
        throw std::invalid_argument("cannot build a " + std::string(extent.shape) + " network without nodes");
    }
    require_at_most(extent.shape, "nodes", extent.nodes, max_nodes);
    require_at_most(extent.shape, "nodes and switches", extent.vertices, max_vertices);
    require_at_most(extent.shape, "links", extent.nodes * 3 + extent.fabric_links, max_links);
}

}  // namespace octant::network
