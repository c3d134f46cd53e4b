// Detours of networks of fully connected groups that are joined by global links: dragonfly and two-level network.
//
// A pair of nodes whose ordinary routes are broken takes the first of these that works, and shares it evenly:
//   1. the global links between the two groups; 2. the same, where a local hop may bend over any third router;
//   3. all third groups that are joined to both; 4. the same with such bends; 5. all shortest paths that are left.
// `Groups` describes the network: groups of equally many routers, numbered group after group.
#pragma once

#include <array>

#include "routing/remaining_paths.hpp"

namespace octant::network {

template <class Groups>
class GroupDetours {
  public:
    template <class Net>
    GroupDetours(Net const& net, Health const& health)
        : topology_(net), net_(net), health_(health), paths_(net, health) {}

    template <class Sink>
    bool visit(Node s, Node t, Sink&& sink) const {
        auto const routes = [&sink](Route const& route, double part) {
            for (int i = 0; i < route.length; ++i) sink(route.links[at(i)], part);
        };
        return by_groups(s, t, routes) || paths_.spread(topology_.entry(s), topology_.entry(t), sink);
    }

    template <class Sink>
    bool walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        double left = static_cast<double>(mix(draw) >> 11) * 0x1p-53;
        Route chosen;
        bool const found = by_groups(s, t, [&](Route const& route, double part) {
            if (left >= 0) chosen = route;
            left -= part;
        });
        if (!found) return paths_.walk(topology_.entry(s), topology_.entry(t), draw, sink);
        for (int i = 0; i < chosen.length; ++i) sink(chosen.links[at(i)]);
        return true;
    }

    // The sums of the ordinary routing; then traffic between groups whose global links are all down moves to others.
    template <class Ordinary>
    bool add_uniform(Ordinary const& ordinary, UniformTraffic const& all, std::span<double> loads) const {
        std::vector<std::pair<int, int>> apart;
        for (int g = 0; g < net_.groups(); ++g) {
            if (!whole_inside(g)) return false;
            for (int h = 0; h < net_.groups(); ++h) {
                if (g != h && up(g, h) == 0) apart.emplace_back(g, h);
            }
        }
        // Groups that are joined neither to each other nor to a common third one: pair by pair.
        if (std::ranges::any_of(apart, [this](auto const& pair) { return thirds(pair.first, pair.second) == 0; }))
            return false;
        if (!ordinary.add_uniform(all, loads)) return false;
        for (auto const& [g, h] : apart) {
            ordinary.add_depending(all, net_.global_link(g, h, 0),
                                   [&loads](LinkId link, double units) { loads[at(link)] -= units; });
            add_over_thirds(g, h, all, [&loads](LinkId link, double units) { loads[at(link)] += units; });
        }
        for (double& load : loads) load = std::max(load, 0.0);  // what cancellation leaves
        for (auto const& [g, h] : apart) {
            for (int k = 0; k < net_.gang(g, h); ++k) loads[at(net_.global_link(g, h, k))] = 0;
        }
        return true;
    }

    template <class Ordinary>
    bool add_depending(Ordinary const& ordinary, UniformTraffic const& all, LinkId link,
                       Routing::Sink const& sink) const {
        if (!net_.is_global(link)) return false;
        auto const [g, h] = net_.groups_of(link);
        if (up(g, h) > 0 || thirds(g, h) == 0) return ordinary.add_depending(all, link, sink);
        add_over_thirds(g, h, all, sink);
        return true;
    }

  private:
    struct Route {
        std::array<LinkId, 8> links{};  // two global hops between three local ones, each over a third router at most
        int length = 0;
    };

    [[nodiscard]] bool is_up(int from, int to) const { return from == to || health_.up(net_.local_link(from, to)); }

    // Calls sink(third router) for every router of the group that joins two others.
    template <class Sink>
    void each_bend(int from, int to, Sink&& sink) const {
        int const first = from - from % net_.routers();
        for (int r = first; r < first + net_.routers(); ++r) {
            if (r != from && r != to && is_up(from, r) && is_up(r, to)) sink(r);
        }
    }
    [[nodiscard]] bool joined(int from, int to, bool bends) const {
        if (is_up(from, to)) return true;
        bool found = false;
        if (bends) each_bend(from, to, [&found](int) { found = true; });
        return found;
    }
    // Appends a local hop, directly or over every third router, and calls next(route, part) for each.
    template <class Next>
    void hop(Route route, int from, int to, double part, Next&& next) const {
        if (from == to) return next(route, part);
        auto const go = [&](int a, int b) { route.links[at(route.length++)] = net_.local_link(a, b); };
        if (is_up(from, to)) {
            go(from, to);
            return next(route, part);
        }
        int bends = 0;
        each_bend(from, to, [&bends](int) { ++bends; });
        each_bend(from, to, [&](int over) {
            int const length = route.length;
            go(from, over);
            go(over, to);
            next(route, part / bends);
            route.length = length;
        });
    }

    // The numbers k of the global links between groups that lead from router `from` to a router with `onward(router)`.
    template <class Onward>
    [[nodiscard]] std::vector<int> ways(int from, int g, int h, bool bends, Onward&& onward) const {
        std::vector<int> found;
        for (int k = 0; k < net_.gang(g, h); ++k) {
            if (health_.up(net_.global_link(g, h, k)) && joined(from, net_.gateway(g, h, k), bends) &&
                onward(net_.gateway(h, g, k)))
                found.push_back(k);
        }
        return found;
    }
    template <class Next>
    void cross(Route const& route, int from, int g, int h, std::vector<int> const& ways, double part,
               Next&& next) const {
        for (int const k : ways) {
            hop(route, from, net_.gateway(g, h, k), part / static_cast<double>(ways.size()),
                [&](Route there, double share) {
                    there.links[at(there.length++)] = net_.global_link(g, h, k);
                    next(there, net_.gateway(h, g, k), share);
                });
        }
    }

    template <class Sink>
    bool by_groups(Node s, Node t, Sink&& sink) const {
        int const from = net_.router_of(s), to = net_.router_of(t);
        if (from / net_.routers() == to / net_.routers()) {
            if (!joined(from, to, true)) return false;
            hop({}, from, to, 1.0, sink);
            return true;
        }
        return direct(from, to, false, sink) || direct(from, to, true, sink) || over_thirds(from, to, false, sink) ||
               over_thirds(from, to, true, sink);
    }

    template <class Sink>
    bool direct(int from, int to, bool bends, Sink&& sink) const {
        int const g = from / net_.routers(), h = to / net_.routers();
        auto const links = ways(from, g, h, bends, [&](int landed) { return joined(landed, to, bends); });
        cross({}, from, g, h, links, 1.0,
              [&](Route const& route, int landed, double part) { hop(route, landed, to, part, sink); });
        return !links.empty();
    }

    template <class Sink>
    bool over_thirds(int from, int to, bool bends, Sink&& sink) const {
        int const g = from / net_.routers(), h = to / net_.routers();
        auto const arrives = [&](int landed) { return joined(landed, to, bends); };
        std::vector<std::pair<int, std::vector<int>>> found;  // third groups, with the global links that lead there
        for (int third = 0; third < net_.groups(); ++third) {
            if (third == g || third == h) continue;
            auto const goes_on = [&](int landed) { return !ways(landed, third, h, bends, arrives).empty(); };
            if (auto links = ways(from, g, third, bends, goes_on); !links.empty())
                found.emplace_back(third, std::move(links));
        }
        for (auto const& [third, links] : found) {
            int const over = third;
            cross({}, from, g, over, links, 1.0 / static_cast<double>(found.size()),
                  [&](Route const& route, int landed, double part) {
                      cross(route, landed, over, h, ways(landed, over, h, bends, arrives), part,
                            [&](Route const& there, int last, double share) { hop(there, last, to, share, sink); });
                  });
        }
        return !found.empty();
    }

    [[nodiscard]] bool whole_inside(int g) const {
        int const first = g * net_.routers();
        for (int r = first; r < first + net_.routers(); ++r) {
            for (int q = first; q < first + net_.routers(); ++q) {
                if (!is_up(r, q)) return false;
            }
        }
        return true;
    }
    // Global links between two groups that are up.
    [[nodiscard]] int up(int g, int h) const {
        int count = 0;
        for (int k = 0; k < net_.gang(g, h); ++k) count += health_.up(net_.global_link(g, h, k)) ? 1 : 0;
        return count;
    }
    // Groups that are joined to both.
    [[nodiscard]] int thirds(int g, int h) const {
        int count = 0;
        for (int third = 0; third < net_.groups(); ++third) count += is_third(third, g, h) ? 1 : 0;
        return count;
    }
    [[nodiscard]] bool is_third(int third, int g, int h) const {
        return third != g && third != h && up(g, third) > 0 && up(third, h) > 0;
    }

    // Uniform traffic of one group to another over all third groups, where all local links are up.
    template <class Sink>
    void add_over_thirds(int g, int h, UniformTraffic const& all, Sink&& sink) const {
        int const routers = net_.routers();
        std::vector<double> leaving(at(routers), 0.0), arriving(at(routers), 0.0);  // part by gateway
        auto const active = [&](int r) { return all.among(r * net_.nodes_of_router(), net_.nodes_of_router()); };
        auto const group = [&](int of) {
            return all.among(of * routers * net_.nodes_of_router(), routers * net_.nodes_of_router());
        };
        double const units = group(g) * group(h) / all.total();
        double const each = 1.0 / thirds(g, h);
        auto const each_up = [&](int from, int to, auto&& way) {
            for (int k = 0; k < net_.gang(from, to); ++k) {
                if (health_.up(net_.global_link(from, to, k))) way(k);
            }
        };
        for (int third = 0; third < net_.groups(); ++third) {
            if (!is_third(third, g, h)) continue;
            double const in = each / up(g, third), out = each / up(third, h);
            each_up(g, third, [&](int k) {
                int const landed = net_.gateway(third, g, k);
                sink(net_.global_link(g, third, k), units * in);
                leaving[at(net_.gateway(g, third, k) % routers)] += in;
                each_up(third, h, [&](int next) {
                    int const last = net_.gateway(third, h, next);
                    if (landed != last) sink(net_.local_link(landed, last), units * in * out / each);
                });
            });
            each_up(third, h, [&](int next) {
                sink(net_.global_link(third, h, next), units * out);
                arriving[at(net_.gateway(h, third, next) % routers)] += out;
            });
        }
        for (int gateway = 0; gateway < routers; ++gateway) {
            int const out = g * routers + gateway, in = h * routers + gateway;
            for (int r = 0; r < routers; ++r) {
                if (r == gateway) continue;
                int const from = g * routers + r, to = h * routers + r;
                if (leaving[at(gateway)] > 0)
                    sink(net_.local_link(from, out), leaving[at(gateway)] * active(from) * group(h) / all.total());
                if (arriving[at(gateway)] > 0)
                    sink(net_.local_link(in, to), arriving[at(gateway)] * active(to) * group(g) / all.total());
            }
        }
    }

    Topology const& topology_;
    Groups net_;
    Health const& health_;
    RemainingPaths paths_;
};

}  // namespace octant::network
