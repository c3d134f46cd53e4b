// Shortest paths between two vertices over the links that are up now. Nothing is kept from one pair to the next, so
// that the health of the links may change between them.
#pragma once

#include <mutex>

#include "engine/routing.hpp"
#include "routing/fabric.hpp"

namespace octant::network {

class RemainingPaths {
  public:
    RemainingPaths(Topology const& topology, Health const& health) : topology_(topology), health_(health) {}

    // Calls sink(link, part): at every vertex, all links that come nearer share equally. False: no path is left.
    template <class Sink>
    bool spread(Vertex from, Vertex to, Sink&& sink) const {
        auto const hops = measure(from, to);
        if (hops.empty()) return false;
        std::vector<double> mass(hops.size(), 0.0);
        std::vector<Vertex> layer{from}, next;
        mass[at(from)] = 1;
        while (layer.front() != to) {
            next.clear();
            for (Vertex const v : layer) {
                int links = 0;
                each_nearer(v, to, hops, [&links](Fabric::Hop const&) { ++links; });
                double const part = mass[at(v)] / links;
                each_nearer(v, to, hops, [&](Fabric::Hop const& hop) {
                    sink(hop.link, part);
                    if (mass[at(hop.to)] == 0) next.push_back(hop.to);
                    mass[at(hop.to)] += part;
                });
            }
            std::swap(layer, next);
        }
        return true;
    }

    // Calls sink(link) for the links of one of these paths, in order.
    template <class Sink>
    bool walk(Vertex from, Vertex to, std::uint64_t draw, Sink&& sink) const {
        auto const hops = measure(from, to);
        if (hops.empty()) return false;
        std::vector<Fabric::Hop> nearer;
        for (Vertex v = from; v != to;) {
            nearer.clear();
            each_nearer(v, to, hops, [&nearer](Fabric::Hop const& hop) { nearer.push_back(hop); });
            auto const& chosen = nearer[draw % nearer.size()];
            draw = mix(draw);
            sink(chosen.link);
            v = chosen.to;
        }
        return true;
    }

  private:
    // Hops to `to` from the vertices that are no farther from it than `from`; empty: they are not connected.
    [[nodiscard]] std::vector<std::uint16_t> measure(Vertex from, Vertex to) const {
        std::call_once(built_, [this] { fabric_ = std::make_unique<Fabric>(topology_, Health{}); });
        std::vector<std::uint16_t> hops(fabric_->vertices(), Fabric::unreachable);
        std::vector<Vertex> line{to};
        hops[at(to)] = 0;
        for (std::size_t head = 0; head < line.size(); ++head) {
            Vertex const v = line[head];
            if (hops[at(v)] >= hops[at(from)]) return hops;
            if (!fabric_->leads(v, to)) continue;
            for (auto const& hop : fabric_->into(v)) {
                if (hops[at(hop.to)] != Fabric::unreachable || !health_.up(hop.link)) continue;
                hops[at(hop.to)] = static_cast<std::uint16_t>(hops[at(v)] + 1);
                line.push_back(hop.to);
            }
        }
        if (hops[at(from)] == Fabric::unreachable) hops.clear();
        return hops;
    }

    template <class Sink>
    void each_nearer(Vertex v, Vertex to, std::vector<std::uint16_t> const& hops, Sink&& sink) const {
        for (auto const& hop : fabric_->out_of(v)) {
            if (hops[at(hop.to)] + 1 == hops[at(v)] && health_.up(hop.link) && fabric_->leads(hop.to, to)) sink(hop);
        }
    }

    Topology const& topology_;
    Health const& health_;
    mutable std::once_flag built_;
    mutable std::unique_ptr<Fabric> fabric_;  // of all links
};

}  // namespace octant::network
