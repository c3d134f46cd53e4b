#include "routing/fabric.hpp"

#include <algorithm>

namespace octant::network {

Fabric::Fabric(Topology const& topology, Health const& health) : topology_(topology) {
    auto const vertices = at(topology.vertices());
    if (vertices > unreachable) {  // the longest path has one hop less
        throw std::invalid_argument("cannot find shortest paths over " + std::to_string(vertices) +
                                    " nodes and switches (at most " + std::to_string(unreachable) +
                                    "); try a smaller network or the topology's own routing");
    }
    first_out_.assign(vertices + 1, 0);
    first_in_ = first_out_;
    auto const each = [&](auto&& sink) {
        for (LinkId link = topology.fabric(); link < topology.links(); ++link) {
            auto const [from, to] = topology.ends(link);
            if (from != to && health.up(link)) sink(link, from, to);
        }
    };
    each([this](LinkId, Vertex from, Vertex to) {
        ++first_out_[at(from) + 1];
        ++first_in_[at(to) + 1];
    });
    for (std::size_t v = 0; v < vertices; ++v) {
        first_out_[v + 1] += first_out_[v];
        first_in_[v + 1] += first_in_[v];
    }
    out_.resize(first_out_.back());
    in_.resize(first_in_.back());
    auto fill_out = first_out_, fill_in = first_in_;
    each([&](LinkId link, Vertex from, Vertex to) {
        out_[fill_out[at(from)]++] = {link, to};
        in_[fill_in[at(to)]++] = {link, from};
    });
}

void Fabric::measure(Vertex target, std::span<std::uint16_t> hops, std::vector<Vertex>& order) const {
    std::ranges::fill(hops, unreachable);
    order.assign(1, target);
    hops[at(target)] = 0;
    for (std::size_t head = 0; head < order.size(); ++head) {
        Vertex const v = order[head];
        if (!leads(v, target)) continue;
        for (Hop const& hop : into(v)) {
            if (hops[at(hop.to)] != unreachable) continue;
            hops[at(hop.to)] = static_cast<std::uint16_t>(hops[at(v)] + 1);
            order.push_back(hop.to);
        }
    }
}

}  // namespace octant::network
