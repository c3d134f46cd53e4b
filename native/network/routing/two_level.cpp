// Direct routes (L-D-L, the ganged D links round-robin) and indirect ones (L-D-L-D-L over a third supernode). If a D
// link is down, its traffic stalls, or moves to the other links of the gang, or to all links between the two
// supernodes.
#include "routing/two_level.hpp"

#include "engine/network.hpp"

#include "routing/detoured.hpp"
#include "routing/group_detours.hpp"

#include <array>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace octant::network {

namespace {

enum class Policy { stall, twin, spread };

// The routes between two supernodes' host octants that one sender may use, and the L hops around them.
class Lanes {
  public:
    Lanes(TwoLevel const& net, Policy policy, Health const& health) : net_(net), health_(health), policy_(policy) {}

    // Whether traffic takes the links of its own host, up or down.
    [[nodiscard]] bool fixed() const { return policy_ == Policy::stall || health_.scale.empty(); }

    // Calls sink(host number, link of the gang, part) for traffic of a sender whose own host number is `own`.
    template <class Sink>
    void each(int from, int to, int own, Sink&& sink) const {
        int const gang = net_.shape().gang;
        double const part = 1.0 / gang;
        if (fixed()) {
            for (int k = 0; k < gang; ++k) sink(own, k, part);
            return;
        }
        int in_gang = 0, in_pair = 0;
        for (int host = 0; host < net_.hosts(); ++host) {
            for (int k = 0; k < gang; ++k) {
                int const up = health_.up(net_.d_link(from, to, host, k)) ? 1 : 0;
                in_pair += up;
                in_gang += host == own ? up : 0;
            }
        }
        if (in_pair == 0) {  // nothing left to fall back on: the traffic waits at its own links
            for (int k = 0; k < gang; ++k) sink(own, k, part);
            return;
        }
        bool const twin = policy_ == Policy::twin && in_gang > 0;
        double const lost = part * (gang - in_gang);
        double const extra = twin ? lost / in_gang : lost / in_pair;
        for (int host = 0; host < net_.hosts(); ++host) {
            if (host != own && (twin || lost == 0)) continue;
            for (int k = 0; k < gang; ++k) {
                if (!health_.up(net_.d_link(from, to, host, k))) continue;
                sink(host, k, host == own ? part + extra : extra);
            }
        }
    }

    // As above, and calls at_host(host number, part) once for each host, with what its links carry together.
    template <class Sink, class AtHost>
    void each(int from, int to, int own, Sink&& sink, AtHost&& at_host) const {
        double gathered = 0;
        int host = own;
        each(from, to, own, [&](int next, int k, double part) {
            if (next != host) {
                if (gathered > 0) at_host(host, gathered);
                host = next;
                gathered = 0;
            }
            gathered += part;
            sink(next, k, part);
        });
        if (gathered > 0) at_host(host, gathered);
    }

  private:
    TwoLevel const& net_;
    Health const& health_;
    Policy policy_;
};

template <class Sink>
void l_hop(TwoLevel const& net, int supernode, int from, int to, double part, Sink&& sink) {
    if (from != to) sink(net.l_link(supernode, from, to), part);
}

struct Place {
    int supernode, octant;
};

Place place(TwoLevel const& net, Node node) {
    return {node / net.octants_of_supernode(), node % net.octants_of_supernode()};
}

// Active octants of a supernode, and of these the senders that use one of its hosts.
class Weights {
  public:
    Weights(TwoLevel const& net, UniformTraffic const& all)
        : per_supernode(net.octants_of_supernode()), per_host(per_supernode / net.hosts()), all_(all) {}
    [[nodiscard]] double total() const { return all_.total(); }
    [[nodiscard]] double at_octant(int s, int octant) const { return all_.at_node(s * per_supernode + octant); }
    [[nodiscard]] double at_host(int s, int host) const {
        return all_.among(s * per_supernode + host * per_host, per_host);
    }
    [[nodiscard]] double at_supernode(int s) const { return all_.among(s * per_supernode, per_supernode); }

    int per_supernode, per_host;  // octants

  private:
    UniformTraffic const& all_;
};

class Direct final : public RoutingOf<Direct> {
  public:
    Direct(TwoLevel const& net, Policy policy, Health const& health)
        : RoutingOf(net), net_(net), lanes_(net, policy, health) {}

    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        Weights const weights(net_, all);
        auto const sink = [&loads](LinkId link, double units) { loads[at(link)] += units; };
        for (int from = 0; from < net_.shape().supernodes; ++from) {
            within(from, weights, sink);
            for (int to = 0; to < net_.shape().supernodes; ++to) {
                if (from != to) between(from, to, weights, 1.0, sink);
            }
        }
        return true;
    }
    bool add_depending(UniformTraffic const& all, LinkId link, Sink const& sink) const override {
        if (net_.class_of(link) != TwoLevel::d) return true;
        auto const [from, to] = net_.ends(link);
        int const per_supernode = net_.octants_of_supernode();
        between(from / per_supernode, to / per_supernode, Weights(net_, all), 1.0, sink);
        return true;
    }

    // Uniform traffic within a supernode.
    template <class Sink>
    void within(int supernode, Weights const& weights, Sink&& sink) const {
        for (int x = 0; x < weights.per_supernode; ++x) {
            double const each = weights.at_octant(supernode, x) / weights.total();
            for (int y = 0; y < weights.per_supernode; ++y)
                l_hop(net_, supernode, x, y, each * weights.at_octant(supernode, y), sink);
        }
    }
    // A part of uniform traffic from one supernode to another.
    template <class Sink>
    void between(int from, int to, Weights const& weights, double of_it, Sink&& sink) const {
        for (int own = 0; own < net_.hosts(); ++own) {
            double const out = of_it * weights.at_supernode(to) / weights.total();
            double const senders = weights.at_host(from, own);
            lanes_.each(
                from, to, own,
                [&](int host, int k, double part) { sink(net_.d_link(from, to, host, k), part * out * senders); },
                [&](int host, double part) {
                    for (int x = own * weights.per_host; x < (own + 1) * weights.per_host; ++x)
                        l_hop(net_, from, x, net_.host(to, host), part * out * weights.at_octant(from, x), sink);
                    double const in = part * of_it * senders / weights.total();
                    for (int y = 0; y < weights.per_supernode; ++y)
                        l_hop(net_, to, net_.host(from, host), y, in * weights.at_octant(to, y), sink);
                });
        }
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        auto const [from, x] = place(net_, s);
        auto const [to, y] = place(net_, t);
        if (from == to) {
            l_hop(net_, from, x, y, 1.0, sink);
            return;
        }
        int const own = net_.hosts() == 1 ? 0 : x / net_.shape().octants;
        lanes_.each(
            from, to, own, [&](int host, int k, double part) { sink(net_.d_link(from, to, host, k), part); },
            [&](int host, double part) {
                l_hop(net_, from, x, net_.host(to, host), part, sink);
                l_hop(net_, to, net_.host(from, host), y, part, sink);
            });
    }

    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        auto const [from, x] = place(net_, s);
        auto const [to, y] = place(net_, t);
        auto const link = [&](LinkId id, double) { sink(id); };
        if (from == to) return l_hop(net_, from, x, y, 1.0, link);
        auto const [host, k] = choose(lanes_, from, to, net_.hosts() == 1 ? 0 : x / net_.shape().octants, draw);
        l_hop(net_, from, x, net_.host(to, host), 1.0, link);
        sink(net_.d_link(from, to, host, k));
        l_hop(net_, to, net_.host(from, host), y, 1.0, link);
    }

    struct Lane {
        int host, k;
    };
    // The lane of one packet. The golden-ratio sequence takes equal shares round-robin and unequal ones in proportion.
    static Lane choose(Lanes const& lanes, int from, int to, int own, std::uint64_t draw) {
        Lane chosen{own, 0};
        double left = static_cast<double>((draw * 0x9e3779b97f4a7c15ULL) >> 11) * 0x1p-53;
        bool found = false;
        lanes.each(from, to, own, [&](int host, int k, double part) {
            if (found) return;
            chosen = {host, k};
            left -= part;
            found = left < 0;
        });
        return chosen;
    }

  private:
    TwoLevel const& net_;
    Lanes lanes_;
};

// Over a third supernode, all of them round-robin. With `with_direct`, the direct route is one of the routes.
class Indirect final : public RoutingOf<Indirect> {
  public:
    Indirect(TwoLevel const& net, Policy policy, Health const& health, bool with_direct, bool detours)
        : RoutingOf(net),
          net_(net),
          lanes_(net, policy, health),
          direct_(net, policy, health),
          with_direct_(with_direct),
          intermediates_(detours, health) {}

    // The host number of a sender stays that of every hop, so the sums are one for each of them.
    bool add_uniform(UniformTraffic const& all, std::span<double> loads) const override {
        int const n = net_.shape().supernodes, others = n - 2;
        if (others < 1) return direct_.add_uniform(all, loads);
        if (!lanes_.fixed()) return false;
        Weights const weights(net_, all);
        double const each = 1.0 / (others + (with_direct_ ? 1 : 0));
        auto const sink = [&loads](LinkId link, double units) { loads[at(link)] += units; };
        for (int s = 0; s < n; ++s) {
            direct_.within(s, weights, sink);
            for (int t = 0; t < n; ++t) {
                if (t != s && with_direct_) direct_.between(s, t, weights, each, sink);
                if (t != s) send_out(s, t, weights, each, sink);
            }
            for (int host = 0; host < net_.hosts(); ++host) pass_on(s, host, weights, each, sink);
        }
        return true;
    }

    template <class Sink>
    void visit(Node s, Node t, Sink&& sink) const {
        auto const [from, x] = place(net_, s);
        auto const [to, y] = place(net_, t);
        int const others = net_.shape().supernodes - 2;
        if (from == to || others < 1) return direct_.visit(s, t, sink);
        intermediates_.each(ways(), third(from, to), routes(s, t),
                            [&](int middle, double each) { over(s, middle, t, each, sink); });
    }

    // The hops up to the last supernode are the same whichever of its octants is meant: they are loaded once for all.
    void add(Node s, std::span<Node const> targets, double weight, std::span<double> loads) const override {
        int const others = net_.shape().supernodes - 2;
        if (others < 1 || targets.size() == 1 || !intermediates_.fixed())
            return RoutingOf::add(s, targets, weight, loads);
        auto const sink = [&loads](LinkId link, double units) { loads[at(link)] += units; };
        auto const [from, x] = place(net_, s);
        double const each = weight / (others + (with_direct_ ? 1 : 0));
        std::map<int, std::vector<int>> lists;  // octants meant, by supernode
        std::size_t away = 0;
        for (Node const& t : targets) {
            auto const [to, y] = place(net_, t);
            if (to == from) {
                RoutingOf::add(s, {&t, 1}, weight, loads);
                continue;
            }
            sink(net_.injection_of(s), weight);
            sink(net_.ejection_of(t), weight);
            if (with_direct_) direct_.visit(s, t, [&](LinkId link, double part) { sink(link, part * each); });
            lists[to].push_back(y);
            ++away;
        }
        for (int middle = 0; middle < net_.shape().supernodes; ++middle) {
            auto const ends = lists.find(middle);
            std::size_t const through = away - (ends == lists.end() ? 0 : ends->second.size());
            if (middle != from && through > 0)
                bounce(from, x, middle, each * static_cast<double>(through), each, lists, sink);
        }
    }

    template <class Sink>
    void walk(Node s, Node t, std::uint64_t draw, Sink&& sink) const {
        auto const [from, x] = place(net_, s);
        auto const [to, y] = place(net_, t);
        int const others = net_.shape().supernodes - 2;
        if (from == to || others < 1) return direct_.walk(s, t, draw, sink);
        int const middle = intermediates_.choose(ways(), third(from, to), routes(s, t), draw);
        if (middle == directly) return direct_.walk(s, t, draw / static_cast<std::uint64_t>(ways()), sink);
        auto const link = [&](LinkId id, double) { sink(id); };
        auto const first = Direct::choose(lanes_, from, middle, own(x), draw);
        int const landed = net_.host(from, first.host);
        auto const second = Direct::choose(lanes_, middle, to, own(landed), mix(draw));
        l_hop(net_, from, x, net_.host(middle, first.host), 1.0, link);
        sink(net_.d_link(from, middle, first.host, first.k));
        l_hop(net_, middle, landed, net_.host(to, second.host), 1.0, link);
        sink(net_.d_link(middle, to, second.host, second.k));
        l_hop(net_, to, net_.host(middle, second.host), y, 1.0, link);
    }

  private:
    static constexpr int directly = -1;  // instead of an intermediate supernode

    [[nodiscard]] int ways() const { return net_.shape().supernodes - 2 + (with_direct_ ? 1 : 0); }
    // The supernodes other than two, by number; the direct way is the last.
    [[nodiscard]] auto third(int from, int to) const {
        return [low = std::min(from, to), high = std::max(from, to), count = net_.shape().supernodes](int i) {
            if (i == count - 2) return directly;
            int const above_low = i + (i >= low ? 1 : 0);
            return above_low + (above_low >= high ? 1 : 0);
        };
    }
    [[nodiscard]] auto routes(Node s, Node t) const {
        return [this, s, t](int middle, auto&& sink) { over(s, middle, t, 1.0, sink); };
    }
    template <class Sink>
    void over(Node s, int middle, Node t, double each, Sink&& sink) const {
        auto const [from, x] = place(net_, s);
        auto const [to, y] = place(net_, t);
        if (middle == directly) return direct_.visit(s, t, [&](LinkId link, double part) { sink(link, part * each); });
        bounce(from, x, middle, each, each, std::array{std::pair(to, std::span(&y, 1))}, sink);
    }
    // Traffic that a supernode sends over `middle` to all others.
    template <class Sink>
    void send_out(int from, int middle, Weights const& weights, double each, Sink&& sink) const {
        double const meant =
            each * (weights.total() - weights.at_supernode(from) - weights.at_supernode(middle)) / weights.total();
        for (int host = 0; host < net_.hosts(); ++host) {
            lanes_.each(from, middle, host, [&](int, int k, double part) {
                sink(net_.d_link(from, middle, host, k), part * meant * weights.at_host(from, host));
            });
            for (int x = host * weights.per_host; x < (host + 1) * weights.per_host; ++x)
                l_hop(net_, from, x, net_.host(middle, host), meant * weights.at_octant(from, x), sink);
        }
    }
    // Traffic that arrives in `middle` on hosts of that number, from every supernode to every other.
    template <class Sink>
    void pass_on(int middle, int host, Weights const& weights, double each, Sink&& sink) const {
        std::vector<double> landed(at(weights.per_supernode), 0.0), leaving = landed;  // by octant
        double all = 0;
        for (int s = 0; s < net_.shape().supernodes; ++s) {
            if (s == middle) continue;
            landed[at(net_.host(s, host))] += weights.at_host(s, host);
            leaving[at(net_.host(s, host))] += weights.at_supernode(s);
            all += weights.at_host(s, host);
        }
        // A supernode's own traffic would leave where it landed, without a hop.
        for (int x = 0; x < weights.per_supernode; ++x) {
            if (landed[at(x)] == 0) continue;
            for (int y = 0; y < weights.per_supernode; ++y) {
                double const units = each / weights.total() * landed[at(x)] * leaving[at(y)];
                if (units > 0) l_hop(net_, middle, x, y, units, sink);
            }
        }
        for (int to = 0; to < net_.shape().supernodes; ++to) {
            if (to == middle) continue;
            double const in = each * (all - weights.at_host(to, host)) / weights.total();
            lanes_.each(middle, to, host, [&](int, int k, double part) {
                sink(net_.d_link(middle, to, host, k), part * in * weights.at_supernode(to));
            });
            for (int y = 0; y < weights.per_supernode; ++y)
                l_hop(net_, to, net_.host(middle, host), y, in * weights.at_octant(to, y), sink);
        }
    }

    [[nodiscard]] int own(int octant) const { return net_.hosts() == 1 ? 0 : octant / net_.shape().octants; }

    // `through` units by way of `middle`, of which `each` go to every one of `octants` of `to`, for every `to` and
    // list.
    template <class Lists, class Sink>
    void bounce(int from, int x, int middle, double through, double each, Lists const& lists, Sink&& sink) const {
        lanes_.each(
            from, middle, own(x),
            [&](int first, int k, double part) { sink(net_.d_link(from, middle, first, k), part * through); },
            [&](int first, double part) {
                l_hop(net_, from, x, net_.host(middle, first), part * through, sink);
                int const landed = net_.host(from, first);
                for (auto const& [to, octants] : lists)
                    if (to != middle) onward(middle, landed, to, octants, part * each, sink);
            });
    }

    template <class Sink>
    void onward(int middle, int landed, int to, std::span<int const> octants, double each, Sink&& sink) const {
        double const all = each * static_cast<double>(octants.size());
        lanes_.each(
            middle, to, own(landed),
            [&](int host, int k, double part) { sink(net_.d_link(middle, to, host, k), part * all); },
            [&](int host, double part) {
                l_hop(net_, middle, landed, net_.host(to, host), part * all, sink);
                for (int const y : octants) l_hop(net_, to, net_.host(middle, host), y, part * each, sink);
            });
    }

    TwoLevel const& net_;
    Lanes lanes_;
    Direct direct_;
    bool with_direct_;
    Intermediates intermediates_;
};

// The network as `GroupDetours` sees it; the global links between two supernodes are numbered host after host.
class TwoLevelGroups {
  public:
    explicit TwoLevelGroups(TwoLevel const& net) : net_(net) {}
    [[nodiscard]] int groups() const { return net_.shape().supernodes; }
    [[nodiscard]] int routers() const { return net_.octants_of_supernode(); }
    [[nodiscard]] static Node nodes_of_router() { return 1; }
    [[nodiscard]] static int router_of(Node node) { return node; }
    [[nodiscard]] int gang(int, int) const { return net_.links_of_pair(); }
    [[nodiscard]] LinkId global_link(int g, int h, int k) const {
        return net_.d_link(g, h, k / net_.shape().gang, k % net_.shape().gang);
    }
    [[nodiscard]] int gateway(int g, int h, int k) const {
        return g * net_.octants_of_supernode() + net_.host(h, k / net_.shape().gang);
    }
    [[nodiscard]] LinkId local_link(int from, int to) const {
        int const size = net_.octants_of_supernode();
        return net_.l_link(from / size, from % size, to % size);
    }
    [[nodiscard]] bool is_global(LinkId link) const { return net_.class_of(link) == TwoLevel::d; }
    [[nodiscard]] std::pair<int, int> groups_of(LinkId link) const {
        auto const [from, to] = net_.ends(link);
        return {from / net_.octants_of_supernode(), to / net_.octants_of_supernode()};
    }

  private:
    TwoLevel const& net_;
};

}  // namespace

std::unique_ptr<Routing> route_two_level(TwoLevel const& net, RoutingChoice const& choice, Health const& health) {
    require_policy(choice, "two-level-direct", {"stall", "twin", "spread"});
    bool const detours = choice.policy == "detour";
    Policy const policy = choice.policy == "twin"                ? Policy::twin
                          : choice.policy == "spread" || detours ? Policy::spread
                                                                 : Policy::stall;
    auto const chosen = [&]<class Ordinary>(std::unique_ptr<Ordinary> routing) -> std::unique_ptr<Routing> {
        if (!detours) return routing;
        return std::make_unique<Detoured<Ordinary, GroupDetours<TwoLevelGroups>>>(net, health, std::move(routing));
    };
    if (choice.name == "direct") return chosen(std::make_unique<Direct>(net, policy, health));
    if (choice.name == "indirect") {
        bool const with_direct = choice.number("with_direct", 0) != 0;
        return chosen(std::make_unique<Indirect>(net, policy, health, with_direct, detours));
    }
    refuse_routing("two-level-direct", choice, {"direct", "indirect"});
}

}  // namespace octant::network
