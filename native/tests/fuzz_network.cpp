// Fuzz target of the network model's engine: bytes become the description of a network, inside and outside the limits,
// which is built, routed and solved; whatever they say, either std::invalid_argument is thrown or these hold: ends,
// classes and routes are those of the network, traffic is conserved at every vertex, loads sum to what the routes
// carry, counting by class equals enumeration, and no answer is NaN.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "engine/adaptive.hpp"
#include "engine/monte_carlo.hpp"
#include "engine/solvers.hpp"
#include "engine/steps.hpp"
#include "topology/dragonfly.hpp"
#include "topology/fat_tree.hpp"
#include "topology/graph.hpp"
#include "topology/hyperx.hpp"
#include "topology/torus.hpp"
#include "topology/two_level.hpp"
#include "traffic/patterns.hpp"

namespace octant::network {

namespace {

void require(bool held, char const* what) {
    if (held) return;
    std::fprintf(stderr, "not so: %s\n", what);
    std::abort();
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(a) + std::abs(b)); }

// Reads an input byte by byte; behind its end there are zeros.
class Reader {
  public:
    explicit Reader(std::span<std::uint8_t const> bytes) : bytes_(bytes) {}

    unsigned byte() {
        if (bytes_.empty()) return 0;
        unsigned const first = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return first;
    }
    unsigned below(unsigned end) { return byte() % end; }
    bool flag() { return byte() % 2 == 1; }
    // Mostly 1 … `usual`, now and then something else.
    int number(int usual) {
        constexpr std::array odd{0,
                                 -1,
                                 2,
                                 255,
                                 4095,
                                 46341,
                                 1 << 16,
                                 (1 << 20) - 1,
                                 1 << 20,
                                 (1 << 20) + 1,
                                 1 << 30,
                                 std::numeric_limits<int>::max(),
                                 std::numeric_limits<int>::min()};
        unsigned const first = byte();
        if (first < 240) return 1 + static_cast<int>(first) % usual;
        if (first < 248) return static_cast<int>(byte() * 256 + byte());
        return odd[below(odd.size())];
    }
    std::vector<int> numbers(std::size_t most, int usual) {
        std::vector<int> result(below(static_cast<unsigned>(most) + 1));
        for (int& one : result) one = number(usual);
        return result;
    }
    Node node(Topology const& topology) { return static_cast<Node>(byte() * 256 + byte()) % topology.nodes(); }

  private:
    std::span<std::uint8_t const> bytes_;
};

std::vector<LinkClass> classes(Reader& in, std::size_t fabric) {
    constexpr std::array rates{unlimited, 1e3, 1e9, 1e15, 0.0, -1.0, std::numeric_limits<double>::quiet_NaN()};
    auto const rate = [&] { return rates[in.byte() < 250 ? in.below(4) : in.below(rates.size())]; };
    std::vector<LinkClass> result(first_fabric_class + fabric + (in.byte() < 250 ? 0 : in.below(3)));
    for (auto& kind : result) {
        kind = {"class", rate(), rate(), in.byte() < 250 ? 1000 * in.byte() : std::int64_t{-1} << in.below(63)};
    }
    return result;
}

std::unique_ptr<Topology> graph(Reader& in, std::vector<LinkClass> kinds, SelfTraffic self) {
    GraphShape shape{in.number(6), 0, {}, {}, false};
    shape.vertices = in.byte() < 250 ? std::min(shape.nodes, 1000) + static_cast<int>(in.below(6)) : in.number(6);
    std::size_t const links = in.below(24);
    for (std::size_t i = 0; i < links; ++i) {
        Ends const ends{static_cast<int>(in.below(10)) - 1, static_cast<int>(in.below(10)) - 1};
        int const kind = in.byte() < 250 ? static_cast<int>(in.below(2)) : in.number(1);
        shape.links.push_back(ends);
        shape.link_class.push_back(kind);
        if (in.byte() < 200) {
            shape.links.push_back({ends.to, ends.from});
            shape.link_class.push_back(kind);
        }
    }
    if (in.byte() > 250) shape.link_class.push_back(0);
    shape.nodes_forward = in.byte() % 2 == 0;
    return std::make_unique<Graph>(std::move(shape), std::move(kinds), self);
}

constexpr std::array fabric_classes{3, 1, 2, 2, 1, 2};

std::unique_ptr<Topology> topology(Reader& in, unsigned kind) {
    auto const self = static_cast<SelfTraffic>(in.below(3));
    auto rows = classes(in, at(fabric_classes[kind]));
    switch (kind) {
        case 0: {
            TwoLevelShape shape{in.number(9), in.number(4), in.number(5),  in.number(3),
                                in.flag(),    in.flag(),    in.number(64), {}};
            shape.holes = in.numbers(3, 8);
            return std::make_unique<TwoLevel>(shape, std::move(rows), self);
        }
        case 1: {
            TorusShape shape{in.numbers(max_dimensions + 1, 4), {}};
            shape.wraps.resize(shape.sizes.size() + (in.byte() < 250 ? 0 : 1));
            for (std::size_t d = 0; d < shape.wraps.size(); ++d) shape.wraps[d] = in.flag();
            return std::make_unique<Torus>(shape, std::move(rows), self);
        }
        case 2: {
            FatTreeShape shape{in.number(3), in.numbers(4, 4), {}};
            shape.up.resize(shape.down.empty() || in.byte() > 250 ? in.below(4) : shape.down.size() - 1);
            for (int& parents : shape.up) parents = in.number(4);
            return std::make_unique<FatTree>(shape, std::move(rows), self);
        }
        case 3: {
            DragonflyShape const shape{in.number(10), in.number(6), in.number(3), in.number(6)};
            return std::make_unique<Dragonfly>(shape, std::move(rows), self);
        }
        case 4: {
            HyperXShape shape{in.numbers(max_dimensions + 1, 4), in.number(3)};
            return std::make_unique<HyperX>(shape, std::move(rows), self);
        }
        default:
            return graph(in, std::move(rows), self);
    }
}

RoutingChoice choice(Reader& in, unsigned kind) {
    static std::vector<std::vector<char const*>> const names{
        {"direct", "indirect"},           {"dimension-ordered", "random-minimal", "valiant"},
        {"d-mod-k", "s-mod-k", "ecmp"},   {"minimal", "valiant"},
        {"dimension-ordered", "valiant"}, {"ecmp"},
    };
    auto const& known = names[in.byte() < 250 ? kind : in.below(6)];
    static constexpr std::array policies{"stall", "recompute", "twin", "spread", "detour", "detour", "none"};
    RoutingChoice result{known[in.below(static_cast<unsigned>(known.size()))],
                         policies[in.byte() < 160 ? 0 : in.below(policies.size())],
                         {},
                         {}};
    result.numbers = {{"split_ties", in.below(2)}, {"with_direct", in.below(2)}};
    if (in.byte() > 200) result.order = in.numbers(max_dimensions, 4);
    if (in.byte() > 200) {  // an order that is one: 1, 0 of two dimensions and so on
        result.order.resize(in.below(4));
        std::iota(result.order.rbegin(), result.order.rend(), 0);
    }
    return result;
}

void check_geometry(Topology const& net, Reader& in) {
    require(net.nodes() >= 1 && net.nodes() <= max_nodes, "a network has 1 to most_nodes nodes");
    require(net.vertices() >= net.nodes() && net.vertices() <= max_vertices, "it has no more vertices than allowed");
    require(net.links() >= 3 * net.nodes() && net.links() <= max_links, "it has no more links than allowed");
    auto const look = [&](LinkId link) {
        auto const [from, to] = net.ends(link);
        require(from >= 0 && from < net.vertices() && to >= 0 && to < net.vertices(), "a link ends at vertices");
        require(at(net.class_of(link)) < net.classes().size(), "a link has a class");
        require(!net.name(link).empty(), "a link has a name");
    };
    if (net.links() <= 4096) {
        for (LinkId link = 0; link < net.links(); ++link) look(link);
    } else {
        look(net.links() - 1);
        for (int i = 0; i < 32; ++i)
            look(static_cast<LinkId>((in.byte() * 65536L + in.byte() * 256 + i) % net.links()));
        look(net.links() - 1 - static_cast<LinkId>(in.byte()));
    }
    Node const a = in.node(net), b = net.nodes() - 1;
    require(net.entry(a) < net.vertices() && net.entry(b) < net.vertices(), "nodes enter at vertices");
    require(!net.node_name(a).empty() && !net.relation(a, b).empty(), "nodes have names");
}

// Sum of the parts; what leaves `s` arrives at `t`, and nowhere else is anything left.
double check_shares(Topology const& net, Routing const& routing, Node s, Node t, std::set<LinkId>& carrying) {
    std::vector<Share> shares;
    routing.shares(s, t, shares);
    std::map<Vertex, double> balance;
    double total = 0;
    for (auto const& [link, part] : shares) {
        require(link >= 0 && link < net.links(), "a route takes links of the network");
        require(part >= 0 && part <= 2 + 1e-9, "a part is a part");  // Valiant may cross a link on both legs
        auto const [from, to] = net.ends(link);
        total += part;
        if (part > 0) carrying.insert(link);
        if (link < net.fabric()) continue;
        balance[from] -= part;
        balance[to] += part;
    }
    if (s != t) {
        balance[net.entry(s)] += 1;
        balance[net.entry(t)] -= 1;
    }
    for (auto const& [vertex, left] : balance) require(near(left, 0), "what enters a vertex leaves it");
    return total;
}

void check_path(Topology const& net, Routing const& routing, Node s, Node t, std::uint64_t draw,
                std::set<LinkId> const& carrying) {
    std::vector<LinkId> path;
    routing.path(s, t, draw, path);
    for (LinkId const link : path) require(carrying.contains(link), "a packet takes links that carry its flow");
    if (s == t) return;
    require(path.size() >= 2 && path.front() == net.injection_of(s) && path.back() == net.ejection_of(t),
            "a packet is injected and ejected");
    Vertex here = net.entry(s);
    for (std::size_t i = 1; i + 1 < path.size(); ++i) {
        auto const [from, to] = net.ends(path[i]);
        require(from == here, "a path is a chain of links");
        here = to;
    }
    require(here == net.entry(t), "a path ends at its target");
}

void check_answer(Solution const& answer) {
    require(!std::isnan(answer.rounds_per_s) && answer.rounds_per_s >= 0, "a rate is a number");
    for (double const load : answer.loads) require(load >= 0 && std::isfinite(load), "a load is a number");
    for (double const rate : answer.rates) require(rate >= 0, "a rate of a flow is a number");
    for (auto const& b : answer.bottlenecks) require(b.rounds_per_s >= 0 && b.links >= 1, "a bottleneck is one");
}

// A body that may refuse; anything but std::invalid_argument ends the program.
template <class Body>
bool accepted(Body const& body) {
    try {
        body();
        return true;
    } catch (std::invalid_argument const& refusal) {
        require(std::string_view(refusal.what()).starts_with("cannot "), "a refusal says what cannot be done");
        return false;
    }
}

struct Case {
    Topology const& net;
    RoutingChoice choice;
    Health health;
    Routing const& routing;
    UnitCost cost;
    std::uint64_t seed;
};

void check_flows(Case const& one, Reader& in) {
    Traffic traffic{.uniform = false};
    double expected = 0;
    for (unsigned left = 1 + in.below(8); left > 0; --left) {
        Node const s = in.node(one.net), t = in.node(one.net);
        double const units = in.below(9);
        std::set<LinkId> carrying;
        double const hops = check_shares(one.net, one.routing, s, t, carrying);
        for (std::uint64_t draw = 0; draw < 3; ++draw)
            check_path(one.net, one.routing, s, t, draw * one.seed, carrying);
        expected += units * hops;
        traffic.flows.push(s, t, units);
    }
    auto const solved = solve_by_enumeration(one.net, one.health, one.routing, traffic, one.cost);
    check_answer(solved);
    require(near(std::accumulate(solved.loads.begin(), solved.loads.end(), 0.0), expected),
            "loads sum to units times hops");
    for (auto const& bottleneck : solved.bottlenecks)
        static_cast<void>(causes(one.net, one.routing, traffic, bottleneck.link));
    accepted([&] { check_answer(solve_max_min(one.net, one.health, one.routing, traffic, one.cost)); });
    accepted([&] { check_answer(solve_fluid(one.net, one.health, one.routing, traffic, one.cost)); });
    accepted([&] {
        Recovery recovery;
        PacketOptions const options{.units_per_packet = 1,
                                    .window = in.number(4),
                                    .packets = 3,
                                    .seed = one.seed,
                                    .in_order = in.flag(),
                                    .failing = in.flag() ? in.number(64) : -1,
                                    .timeout_ps = 1000 * in.byte()};
        check_answer(solve_packets(one.net, one.health, one.routing, traffic, one.cost, options, recovery));
        require(recovery.undelivered >= 0, "packets are not delivered twice");
    });
    accepted([&] {
        std::vector<Node> nodes(1 + in.below(6));
        for (Node& node : nodes) node = in.node(one.net);
        StepPricer pricer(one.net, one.health, one.routing, nodes, one.cost);
        for (unsigned left = in.below(6); left > 0; --left) {
            int const from = static_cast<int>(in.below(8)) - 1;
            pricer.send(from, static_cast<int>(in.below(8)) - 1, in.below(9));
        }
        StepPrice const price = pricer.finish();
        require(price.latency_s >= 0 && price.wire_s >= 0, "a step takes time");
    });
    accepted([&] {
        LinkId const link = one.net.links() - 1 - static_cast<LinkId>(in.byte());
        double const left = in.flag() ? 0.5 : 0;
        for (auto const& f : sweep_failures(one.net, one.choice, traffic, one.cost, {link}, left))
            require(f.rounds_per_s >= 0, "a failure has an answer");
    });
}

// Compares class aggregation and enumeration for uniform all-to-all traffic.
void check_uniform(Case const& one, std::vector<int> const& holes, int octants) {
    Traffic traffic{.uniform = true};
    for (Node node = 0; node < one.net.nodes(); ++node) {
        bool const hole = octants > 0 && std::find(holes.begin(), holes.end(), node % octants) != holes.end();
        if (!hole) traffic.active.push_back(node);
    }
    auto const listed = solve_by_enumeration(one.net, one.health, one.routing, traffic, one.cost);
    check_answer(listed);
    double const senders = static_cast<double>(traffic.active.size());
    double const queued = closed_queue_rate(one.net, one.health, one.cost, listed, senders, 4);
    require(queued >= 0, "a queue has a rate");
    Recovery recovery;
    PacketOptions const options{.window = 2, .packets = 3, .seed = one.seed};
    check_answer(solve_packets(one.net, one.health, one.routing, traffic, one.cost, options, recovery));
    accepted([&] {
        auto const counted = solve_by_class(one.net, one.choice, one.health, one.routing, traffic, one.cost);
        check_answer(counted);
        std::vector<double> sum(one.net.classes().size(), 0.0), most(sum), sum_listed(sum), max_listed(sum);
        auto const add = [&](LinkId link, double load, double links) {
            auto const kind = at(one.net.class_of(link));
            sum[kind] += load * links;
            most[kind] = std::max(most[kind], load);
        };
        for (auto const& group : counted.groups) add(group.link, group.load, group.links);
        for (std::size_t link = 0; link < counted.loads.size(); ++link)
            add(static_cast<LinkId>(link), counted.loads[link], 1);
        for (LinkId link = 0; link < one.net.links(); ++link) {
            auto const kind = at(one.net.class_of(link));
            sum_listed[kind] += listed.loads[at(link)];
            max_listed[kind] = std::max(max_listed[kind], listed.loads[at(link)]);
        }
        for (std::size_t kind = 0; kind < sum.size(); ++kind) {
            require(near(sum[kind], sum_listed[kind]), "counting and enumeration give the same sum");
            require(near(most[kind], max_listed[kind]), "counting and enumeration give the same largest load");
        }
        require(near(counted.rounds_per_s / listed.rounds_per_s, 1) || counted.rounds_per_s == listed.rounds_per_s,
                "counting and enumeration give the same rate");
    });
}

Health damage(Topology const& net, Reader& in) {
    Health health;
    if (in.byte() < 160) return health;
    health.scale.assign(at(net.links()), 1.0);
    for (unsigned left = in.below(6); left > 0; --left) {
        auto const link = at(net.links()) - 1 - (in.byte() * 256 + in.byte()) % at(net.links());
        health.scale[link] = in.flag() ? 0.5 : 0;
    }
    return health;
}

void check_network(Topology const& net, Reader& in, unsigned kind) {
    constexpr Node few = 32;  // random-minimal routing of all pairs on 2^6 nodes takes a second under a sanitizer
    if (net.nodes() > few || net.vertices() > 1024 || net.links() > 2048) return;
    RoutingChoice const how = choice(in, kind);
    Health const health = damage(net, in);
    accepted([&] {
        auto const routing = net.route(how, health);
        Case const one{net, how, health, *routing, {1, 1 + 0.125 * in.below(8), 0.25 * in.below(5)}, in.byte() + 1U};
        check_flows(one, in);
        auto const* const two_level = dynamic_cast<TwoLevel const*>(&net);
        if (two_level != nullptr) {
            check_uniform(one, two_level->shape().holes, two_level->octants_of_supernode());
        } else {
            check_uniform(one, {}, 0);
        }
        Traffic traffic{.uniform = false};
        traffic.flows = in.flag() ? bisection(net.nodes()) : permutation("shift", net.nodes(), in.number(9));
        if (in.below(8) == 0) {  // costs more than all the rest
            auto const second = net.route(choice(in, kind), health);
            auto const balanced = solve_adaptive(net, health, *routing, *second, traffic, one.cost, 4);
            require(!std::isnan(balanced.max_rounds_per_s) && !std::isnan(balanced.elsewhere), "a split is a number");
        }
        std::vector<LinkId> links(at(net.links() - net.fabric()));
        std::iota(links.begin(), links.end(), net.fabric());
        static_cast<void>(fail_at_random(net, how, traffic, one.cost, links, in.number(3), 0, 2, one.seed));
    });
}

}  // namespace

}  // namespace octant::network

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace octant::network;
    Reader in({data, size});
    unsigned const kind = in.below(6);
    bool const built = accepted([&] {
        auto const net = topology(in, kind);
        check_geometry(*net, in);
        check_network(*net, in, kind);
    });
    return built ? 0 : -1;  // libFuzzer and our driver keep only what was built
}
