// Incremental shortest paths after a failure: only vertices with paths over the failed cable are updated.
#pragma once

#include <algorithm>
#include <queue>

#include "routing/fabric.hpp"

namespace octant::network {

// New routes around a cable for one destination at a time; calls `changed(link, units)`. Every thread has its own.
template <class Changed>
class Detours {
  public:
    Detours(Topology const& topology, Fabric const& fabric, Changed changed)
        : topology_(topology),
          fabric_(fabric),
          changed_(std::move(changed)),
          fresh_(fabric_.vertices(), 0),
          role_(fabric_.vertices(), Role::untouched),
          queued_(fabric_.vertices(), 0),
          delta_(fabric_.vertices(), 0.0) {}

    // The cable that is down: both of its links (`back` may be -1).
    void cut(LinkId link, LinkId back) {
        link_ = link;
        back_ = back;
    }

    // Routes to `target` that cross `gone` (a link of the cable), around it; returns the units that no way is left for.
    // `hops` and `passing` are those of the whole network.
    double around(LinkId gone, Vertex target, std::span<std::uint16_t const> hops, std::span<double const> passing) {
        target_ = target;
        hops_ = hops;
        passing_ = passing;
        mark_farther_vertices(topology_.ends(gone).from);
        measure_further();
        withdraw();
        double const dead = send();
        for (Vertex const v : concerned_) role_[at(v)] = Role::untouched;
        concerned_.clear();
        return dead;
    }

  private:
    enum class Role : char { untouched, split, further };  // split anew; further from the destination than before
    using Far = std::pair<std::uint16_t, Vertex>;

    [[nodiscard]] bool down(LinkId link) const { return link == link_ || link == back_; }
    [[nodiscard]] bool was_nearer(Vertex from, Vertex to) const {
        return hops_[at(to)] + 1 == hops_[at(from)] && fabric_.leads(to, target_);
    }
    [[nodiscard]] std::uint16_t now(Vertex v) const {
        return role_[at(v)] == Role::further ? fresh_[at(v)] : hops_[at(v)];
    }
    [[nodiscard]] bool is_nearer(Vertex from, Fabric::Hop const& hop) const {
        return !down(hop.link) && now(hop.to) != Fabric::unreachable && now(hop.to) + 1 == now(from) &&
               fabric_.leads(hop.to, target_);
    }
    void assign_role(Vertex v, Role role) {
        if (role_[at(v)] == Role::untouched) concerned_.push_back(v);
        role_[at(v)] = role;
    }

    // Marks vertices that have lost all nearer neighbours, in order of distance. Vertices that have lost some
    // neighbours split their traffic again.
    void mark_farther_vertices(Vertex first) {
        std::vector<Vertex>& line = line_;
        line.clear();
        auto const judge = [&](Vertex v) {
            if (role_[at(v)] == Role::further) return;
            bool const kept = std::ranges::any_of(fabric_.out_of(v), [&](Fabric::Hop const& hop) {
                return !down(hop.link) && was_nearer(v, hop.to) && role_[at(hop.to)] != Role::further;
            });
            assign_role(v, kept ? Role::split : Role::further);
            if (!kept) line.push_back(v);
        };
        judge(first);
        for (std::size_t head = 0; head < line.size(); ++head) {
            Vertex const v = line[head];
            for (auto const& hop : fabric_.into(v)) {
                if (hop.to != target_ && was_nearer(hop.to, v)) judge(hop.to);
            }
        }
    }

    void measure_further() {
        std::priority_queue<Far, std::vector<Far>, std::greater<>> nearest;
        for (Vertex const v : line_) {
            std::uint16_t best = Fabric::unreachable;
            for (auto const& hop : fabric_.out_of(v)) {
                if (down(hop.link) || role_[at(hop.to)] == Role::further || !fabric_.leads(hop.to, target_)) continue;
                if (hops_[at(hop.to)] == Fabric::unreachable) continue;
                best = std::min(best, static_cast<std::uint16_t>(hops_[at(hop.to)] + 1));
            }
            fresh_[at(v)] = best;
            if (best != Fabric::unreachable) nearest.emplace(best, v);
        }
        while (!nearest.empty()) {
            auto const [away, v] = nearest.top();
            nearest.pop();
            if (away > fresh_[at(v)] || !fabric_.leads(v, target_)) continue;
            for (auto const& hop : fabric_.into(v)) {
                if (down(hop.link) || role_[at(hop.to)] != Role::further || fresh_[at(hop.to)] <= away + 1) continue;
                fresh_[at(hop.to)] = static_cast<std::uint16_t>(away + 1);
                nearest.emplace(fresh_[at(hop.to)], hop.to);
            }
        }
    }

    // Takes back what the concerned vertices sent on.
    void withdraw() {
        for (Vertex const v : concerned_) {
            enqueue(v);
            double const units = passing_[at(v)];
            if (units == 0) continue;
            auto const out = fabric_.out_of(v);
            auto const nearer = [&](Fabric::Hop const& hop) { return was_nearer(v, hop.to); };
            forward(out, nearer, -units);
        }
    }

    // Sends on again, from far to near; what passes other vertices changes by what has come to them.
    double send() {
        double dead = 0;
        while (!farthest_.empty()) {
            Vertex const v = farthest_.top().second;
            farthest_.pop();
            queued_[at(v)] = 0;
            double const change = delta_[at(v)];
            delta_[at(v)] = 0;
            if (v == target_) continue;
            double const units = role_[at(v)] == Role::untouched ? change : passing_[at(v)] + change;
            if (now(v) == Fabric::unreachable) {
                dead += units;
            } else if (units != 0) {
                forward(fabric_.out_of(v), [&](Fabric::Hop const& hop) { return is_nearer(v, hop); }, units);
            }
        }
        return dead;
    }

    template <class Nearer>
    void forward(std::span<Fabric::Hop const> out, Nearer const& nearer, double units) {
        double const part = units / static_cast<double>(std::ranges::count_if(out, nearer));
        for (auto const& hop : out) {
            if (!nearer(hop)) continue;
            changed_(hop.link, part);
            delta_[at(hop.to)] += part;
            enqueue(hop.to);
        }
    }

    void enqueue(Vertex v) {
        if (queued_[at(v)]) return;
        queued_[at(v)] = 1;
        farthest_.emplace(now(v), v);
    }

    Topology const& topology_;
    Fabric const& fabric_;
    Changed changed_;
    LinkId link_ = -1, back_ = -1;
    Vertex target_ = 0;
    std::span<std::uint16_t const> hops_;
    std::span<double const> passing_;
    std::vector<std::uint16_t> fresh_;
    std::vector<Role> role_;
    std::vector<Vertex> concerned_, line_;
    std::vector<char> queued_;
    std::vector<double> delta_;
    std::priority_queue<Far> farthest_;
};

}  // namespace octant::network
