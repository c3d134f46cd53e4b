// The Python module octant._network: values in, arrays out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <csignal>

#include "engine/adaptive.hpp"
#include "engine/monte_carlo.hpp"
#include "engine/solvers.hpp"
#include "engine/steps.hpp"
#include "engine/work.hpp"
#include "topology/dragonfly.hpp"
#include "topology/fat_tree.hpp"
#include "topology/graph.hpp"
#include "topology/hyperx.hpp"
#include "topology/torus.hpp"
#include "topology/two_level.hpp"
#include "traffic/collectives.hpp"
#include "traffic/patterns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace octant::network {

namespace {

template <class Number>
using In = nb::ndarray<Number const, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class Number>
using Out = nb::ndarray<nb::numpy, Number, nb::ndim<1>>;

template <class Number>
Out<Number> array(std::vector<Number> values) {
    auto* const owned = new std::vector<Number>(std::move(values));  // the capsule frees it with the array
    nb::capsule owner(owned, [](void* data) noexcept { delete static_cast<std::vector<Number>*>(data); });
    return Out<Number>(owned->data(), {owned->size()}, owner);
}

template <class Number>
std::vector<Number> list(In<Number> const& values) {
    return {values.data(), values.data() + values.size()};
}

Flows flows(In<Node> const& from, In<Node> const& to, In<double> const& units, In<std::uint16_t> const& job) {
    return {list(from), list(to), list(units), list(job)};
}

using Columns = std::tuple<Out<Node>, Out<Node>, Out<double>>;

Columns columns(Flows const& flows) { return {array(flows.from), array(flows.to), array(flows.units)}; }

using Classes = std::vector<std::tuple<std::string, double, double, std::int64_t>>;

std::vector<LinkClass> classes(Classes const& rows) {
    std::vector<LinkClass> result;
    for (auto const& [name, bytes_per_s, packets_per_s, latency_ps] : rows) {
        result.push_back({name, bytes_per_s, packets_per_s, latency_ps});
    }
    return result;
}

SelfTraffic self_traffic(std::string const& name) {
    if (name == "memory") return SelfTraffic::memory;
    if (name == "endpoint") return SelfTraffic::endpoint;
    if (name == "free") return SelfTraffic::free;
    throw std::invalid_argument("cannot send from a node to itself over '" + name + "'; try memory, endpoint or free");
}

// Checks numbers from Python; throws std::invalid_argument if a link or node does not exist.
LinkId known_link(Topology const& topology, LinkId link) {
    if (link >= 0 && link < topology.links()) return link;
    throw std::invalid_argument("cannot name link " + std::to_string(link) + " (the network has 0 … " +
                                std::to_string(topology.links() - 1) + ")");
}

Node known_node(Topology const& topology, Node node) {
    if (node >= 0 && node < topology.nodes()) return node;
    throw std::invalid_argument("cannot name node " + std::to_string(node) + " (the network has 0 … " +
                                std::to_string(topology.nodes() - 1) + ")");
}

// An answer about a network of that size.
Solution const& require_topology(Topology const& topology, Solution const& answer) {
    bool fits = answer.loads.empty() || answer.loads.size() == at(topology.links());
    for (auto const& group : answer.groups) fits = fits && group.link >= 0 && group.link < topology.links();
    if (!fits) throw std::invalid_argument("cannot use the solution of one network for another");
    return answer;
}

// A topology with its routing and health: what solvers need, kept together so that nothing dangles.
class Network {
  public:
    Network(std::shared_ptr<Topology> topology, RoutingChoice choice, std::vector<double> scale)
        : topology_(std::move(topology)), choice_(std::move(choice)), health_{std::move(scale)} {
        if (!health_.scale.empty() && health_.scale.size() != at(topology_->links())) {
            throw std::invalid_argument("cannot apply failures (one number per link is needed)");
        }
        for (double const left : health_.scale) {
            if (left >= 0 && left <= 1) continue;
            throw std::invalid_argument("cannot scale the rate of a link by " + std::to_string(left) + "; try 0 to 1");
        }
        routing_ = topology_->route(choice_, health_);
    }
    [[nodiscard]] Topology const& topology() const { return *topology_; }
    [[nodiscard]] Health const& health() const { return health_; }
    [[nodiscard]] Routing const& routing() const { return *routing_; }
    [[nodiscard]] RoutingChoice const& choice() const { return choice_; }

  private:
    std::shared_ptr<Topology> topology_;
    RoutingChoice choice_;
    Health health_;
    std::unique_ptr<Routing> routing_;
};

// One step as a row: pieces that the buffer is cut into, how often it is done, whether segments repeat it, then its
// price: latency of the longest route, a message without one (or -1), messages of the busiest rank, pieces of the
// largest message, pieces that one rank sends, seconds on the fullest link if a piece is one unit, that link's class,
// pieces of the largest message within a node and of the largest between two (or -1).
using PriceRow = std::tuple<int, double, bool, double, Node, Node, std::int64_t, double, double, double, std::int32_t,
                            double, double>;

PriceRow row_of(Topology const& topology, CollectiveStep const& step, StepPrice const& price) {
    return {step.cut,
            step.times,
            step.segmented,
            price.latency_s,
            price.untimed_from,
            price.untimed_to,
            price.messages,
            price.largest,
            price.sent,
            price.wire_s,
            price.link < 0 ? -1 : topology.class_of(price.link),
            price.inside,
            price.between};
}

double messages_of(std::vector<CollectiveStep> const& steps) {
    double messages = 0;
    for (auto const& step : steps) messages += static_cast<double>(step.size);
    return messages;
}

// The steps of a collective by each of several algorithms, with their prices. `alternative` is the advice if that would
// take too long.
std::vector<std::vector<PriceRow>> price(Network const& n, std::string const& operation,
                                         std::vector<std::string> const& algorithms, In<Node> const& node_of_rank,
                                         UnitCost const& shape, std::string const& alternative) {
    std::vector<std::vector<CollectiveStep>> programs;
    double messages = 0;
    for (auto const& algorithm : algorithms) {
        programs.push_back(collective(operation, algorithm, static_cast<int>(node_of_rank.size())));
        messages += messages_of(programs.back());
    }
    Work work(messages, alternative);
    StepPricer pricer(n.topology(), n.health(), n.routing(), list(node_of_rank), shape);
    std::vector<std::vector<PriceRow>> rows(programs.size());
    for (std::size_t p = 0; p < programs.size(); ++p) {
        for (auto const& step : programs[p]) {
            constexpr int check_interval = 64;
            int sent = 0;
            step.messages([&](int from, int to, double pieces) {
                pricer.send(from, to, pieces);
                if (++sent % check_interval == 0) work.advance(check_interval);
            });
            work.advance(sent % check_interval);
            rows[p].push_back(row_of(n.topology(), step, pricer.finish()));
        }
    }
    return rows;
}

// The price of messages that travel at once, given as columns of ranks.
PriceRow price_flows(Network const& n, In<Node> const& from, In<Node> const& to, In<double> const& units,
                     In<Node> const& node_of_rank, UnitCost const& shape) {
    if (from.size() != to.size() || from.size() != units.size())
        throw std::invalid_argument("cannot read the flows (their columns differ in length)");
    StepPricer pricer(n.topology(), n.health(), n.routing(), list(node_of_rank), shape);
    for (std::size_t f = 0; f < from.size(); ++f) pricer.send(from.data()[f], to.data()[f], units.data()[f]);
    return row_of(n.topology(), {}, pricer.finish());
}

// While the engine works, Ctrl-C ends the work at its next step; where nothing looks at steps, a second one ends the
// process.
class StopOnCtrlC {
  public:
    StopOnCtrlC() {
        if (depth.fetch_add(1) > 0) return;
        struct sigaction ours {};
        ours.sa_handler = [](int) {
            if (stop_work()) return;
            std::signal(SIGINT, SIG_DFL);
            if (before.sa_handler == SIG_DFL) {
                raise(SIGINT);
            } else {
                before.sa_handler(SIGINT);
            }
        };
        sigaction(SIGINT, &ours, &before);
        if (before.sa_handler == SIG_IGN) sigaction(SIGINT, &before, nullptr);
    }
    ~StopOnCtrlC() {
        if (depth.fetch_sub(1) > 1) return;
        sigaction(SIGINT, &before, nullptr);
        if (consume_stop_request()) raise(SIGINT);  // it came with the last step
    }
    StopOnCtrlC(StopOnCtrlC const&) = delete;
    StopOnCtrlC& operator=(StopOnCtrlC const&) = delete;

  private:
    static inline std::atomic<int> depth = 0;
    static inline struct sigaction before {};
};

Traffic everybody(In<Node> const& active) { return {.uniform = true, .active = list(active)}; }

void bind_values(nb::module_& m) {
    nb::class_<UnitCost>(m, "UnitCost", "Cost of one unit of traffic")
        .def(nb::init<double, double, double>(), "payload_bytes"_a, "wire_bytes"_a, "packets"_a);
    nb::class_<Traffic>(m, "Traffic", "Flows, or uniform all-to-all traffic")
        .def_static("uniform", &everybody, "active"_a)
        .def_static(
            "flows",
            [](In<Node> const& from, In<Node> const& to, In<double> const& units, In<std::uint16_t> const& job) {
                return Traffic{.flows = flows(from, to, units, job)};
            },
            "sources"_a, "targets"_a, "units"_a, "job"_a);
    nb::class_<Bottleneck>(m, "Bottleneck", "The link of a class that limits the pattern most")
        .def_ro("link_class", &Bottleneck::link_class)
        .def_ro("link", &Bottleneck::link)
        .def_ro("load", &Bottleneck::load)
        .def_ro("capacity", &Bottleneck::capacity)
        .def_ro("rounds_per_s", &Bottleneck::rounds_per_s)
        .def_ro("packets", &Bottleneck::packets)
        .def_ro("links", &Bottleneck::links);
    nb::class_<Solution>(m, "Solution", "Result of a solver")
        .def_ro("solver", &Solution::solver)
        .def_ro("rounds_per_s", &Solution::rounds_per_s)
        .def_ro("bottlenecks", &Solution::bottlenecks)
        .def_ro("stalled", &Solution::stalled)
        .def_ro("events", &Solution::events)
        .def_prop_ro(
            "loads", [](Solution const& answer) { return array(answer.loads); }, nb::rv_policy::move)
        .def_prop_ro(
            "rates", [](Solution const& answer) { return array(answer.rates); }, nb::rv_policy::move)
        .def_prop_ro("groups", [](Solution const& answer) {
            std::vector<std::tuple<LinkId, double, double>> rows;
            for (auto const& group : answer.groups) rows.emplace_back(group.link, group.load, group.links);
            return rows;
        });
}

void bind_topologies(nb::module_& m) {
    nb::class_<Topology>(m, "Topology", "A shape of network")
        .def_prop_ro("nodes", &Topology::nodes)
        .def_prop_ro("vertices", &Topology::vertices)
        .def_prop_ro("links", &Topology::links)
        .def_prop_ro("fabric", &Topology::fabric)
        .def(
            "class_of", [](Topology const& t, LinkId link) { return t.class_of(known_link(t, link)); }, "link"_a)
        .def(
            "name", [](Topology const& t, LinkId link) { return t.name(known_link(t, link)); }, "link"_a)
        .def(
            "node_name", [](Topology const& t, Node node) { return t.node_name(known_node(t, node)); }, "node"_a)
        .def(
            "entry", [](Topology const& t, Node node) { return t.entry(known_node(t, node)); }, "node"_a)
        .def(
            "relation",
            [](Topology const& t, Node source, Node target) {
                return t.relation(known_node(t, source), known_node(t, target));
            },
            "source"_a, "target"_a)
        .def("link_classes",
             [](Topology const& topology) {
                 std::vector<std::int32_t> result;
                 for (LinkId link = 0; link < topology.links(); ++link) result.push_back(topology.class_of(link));
                 return array(std::move(result));
             })
        .def("ends", [](Topology const& topology) {
            std::vector<std::int32_t> from, to;
            for (LinkId link = 0; link < topology.links(); ++link) {
                auto const [a, b] = topology.ends(link);
                from.push_back(a);
                to.push_back(b);
            }
            return std::tuple(array(std::move(from)), array(std::move(to)));
        });
    m.def(
        "two_level",
        [](int supernodes, int drawers, int octants, int gang, bool host_in_every_drawer, bool block, int d_ports,
           std::vector<int> holes, Classes const& rows, std::string const& self) -> std::shared_ptr<Topology> {
            return std::make_shared<TwoLevel>(TwoLevelShape{supernodes, drawers, octants, gang, host_in_every_drawer,
                                                            block, d_ports, std::move(holes)},
                                              classes(rows), self_traffic(self));
        },
        "supernodes"_a, "drawers"_a, "octants"_a, "gang"_a, "host_in_every_drawer"_a, "block"_a, "d_ports"_a, "holes"_a,
        "classes"_a, "self"_a);
    m.def(
        "torus",
        [](std::vector<int> sizes, std::vector<bool> wraps, Classes const& rows,
           std::string const& self) -> std::shared_ptr<Topology> {
            return std::make_shared<Torus>(TorusShape{std::move(sizes), std::move(wraps)}, classes(rows),
                                           self_traffic(self));
        },
        "sizes"_a, "wraps"_a, "classes"_a, "self"_a);
    m.def(
        "fat_tree",
        [](int planes, std::vector<int> down, std::vector<int> up, Classes const& rows,
           std::string const& self) -> std::shared_ptr<Topology> {
            return std::make_shared<FatTree>(FatTreeShape{planes, std::move(down), std::move(up)}, classes(rows),
                                             self_traffic(self));
        },
        "planes"_a, "down"_a, "up"_a, "classes"_a, "self"_a);
    m.def(
        "dragonfly",
        [](int groups, int routers, int nodes, int global_links, Classes const& rows,
           std::string const& self) -> std::shared_ptr<Topology> {
            return std::make_shared<Dragonfly>(DragonflyShape{groups, routers, nodes, global_links}, classes(rows),
                                               self_traffic(self));
        },
        "groups"_a, "routers"_a, "nodes"_a, "global_links"_a, "classes"_a, "self"_a);
    m.def(
        "hyperx",
        [](std::vector<int> sizes, int nodes, Classes const& rows,
           std::string const& self) -> std::shared_ptr<Topology> {
            return std::make_shared<HyperX>(HyperXShape{std::move(sizes), nodes}, classes(rows), self_traffic(self));
        },
        "sizes"_a, "nodes"_a, "classes"_a, "self"_a);
    m.def(
        "graph",
        [](Node nodes, Vertex vertices, In<Vertex> const& from, In<Vertex> const& to, In<std::int32_t> const& kind,
           bool nodes_forward, Classes const& rows, std::string const& self) -> std::shared_ptr<Topology> {
            if (from.size() != to.size()) throw std::invalid_argument("cannot build a graph (links with one end)");
            GraphShape shape{nodes, vertices, {}, list(kind), nodes_forward};
            for (std::size_t i = 0; i < from.size(); ++i) shape.links.push_back({from.data()[i], to.data()[i]});
            return std::make_shared<Graph>(std::move(shape), classes(rows), self_traffic(self));
        },
        "nodes"_a, "vertices"_a, "sources"_a, "targets"_a, "link_class"_a, "nodes_forward"_a, "classes"_a, "self"_a);
}

void bind_network(nb::module_& m) {
    using Release = nb::call_guard<nb::gil_scoped_release, StopOnCtrlC>;
    nb::class_<Network>(m, "Network", "A topology with its routing and the health of its links")
        .def(
            "__init__",
            [](Network* self, std::shared_ptr<Topology> topology, std::string const& routing, std::string const& policy,
               std::map<std::string, double> const& numbers, std::vector<int> const& order, In<double> const& scale) {
                new (self) Network(std::move(topology), {routing, policy, numbers, order}, list(scale));
            },
            "topology"_a, "routing"_a, "policy"_a, "numbers"_a, "order"_a, "scale"_a)
        .def(
            "by_class",
            [](Network const& n, Traffic const& traffic, UnitCost const& shape) {
                return solve_by_class(n.topology(), n.choice(), n.health(), n.routing(), traffic, shape);
            },
            "traffic"_a, "shape"_a, Release())
        .def(
            "exactly",
            [](Network const& n, Traffic const& traffic, UnitCost const& shape, bool every_link) {
                if (every_link) return solve_every_link(n.topology(), n.health(), n.routing(), traffic, shape);
                return solve_exactly(n.topology(), n.choice(), n.health(), n.routing(), traffic, shape);
            },
            "traffic"_a, "shape"_a, "every_link"_a, Release())
        .def(
            "enumerate",
            [](Network const& n, Traffic const& traffic, UnitCost const& shape) {
                return solve_by_enumeration(n.topology(), n.health(), n.routing(), traffic, shape);
            },
            "traffic"_a, "shape"_a, Release())
        .def(
            "max_min",
            [](Network const& n, Traffic const& traffic, UnitCost const& shape) {
                return solve_max_min(n.topology(), n.health(), n.routing(), traffic, shape);
            },
            "traffic"_a, "shape"_a, Release())
        .def(
            "fluid",
            [](Network const& n, Traffic const& traffic, UnitCost const& shape) {
                return solve_fluid(n.topology(), n.health(), n.routing(), traffic, shape);
            },
            "traffic"_a, "shape"_a, Release())
        .def(
            "closed_queue",
            [](Network const& n, Solution const& answer, UnitCost const& shape, double senders, double window) {
                return closed_queue_rate(n.topology(), n.health(), shape, require_topology(n.topology(), answer),
                                         senders, window);
            },
            "answer"_a, "shape"_a, "senders"_a, "window"_a, Release())
        .def(
            "packets",
            [](Network const& n, Traffic const& traffic, UnitCost const& shape, double units_per_packet, int window,
               std::int64_t packets, std::uint64_t seed, bool in_order, LinkId failing, std::int64_t fails_ps,
               std::int64_t timeout_ps, std::int64_t ping_ps, int retries) {
                Recovery recovery;
                PacketOptions const options{units_per_packet, window,   packets,    seed,    in_order,
                                            failing,          fails_ps, timeout_ps, ping_ps, retries};
                auto answer = solve_packets(n.topology(), n.health(), n.routing(), traffic, shape, options, recovery);
                return std::tuple(std::move(answer), recovery.lost, recovery.resent, recovery.undelivered,
                                  recovery.detected_ps, recovery.recovered_ps);
            },
            "traffic"_a, "shape"_a, "units_per_packet"_a, "window"_a, "packets"_a, "seed"_a, "in_order"_a, "failing"_a,
            "fails_ps"_a, "timeout_ps"_a, "ping_ps"_a, "retries"_a, Release())
        .def("price", &price, "operation"_a, "algorithms"_a, "node_of_rank"_a, "shape"_a, "alternative"_a, Release())
        .def("price_flows", &price_flows, "sources"_a, "targets"_a, "units"_a, "node_of_rank"_a, "shape"_a, Release())
        .def(
            "each",
            [](Network const& n, std::vector<Traffic> const& traffics, UnitCost const& shape) {
                return solve_each(n.topology(), n.health(), n.routing(), traffics, shape);
            },
            "traffics"_a, "shape"_a, Release())
        .def(
            "sweep",
            [](Network const& n, Traffic const& traffic, UnitCost const& shape, std::vector<LinkId> const& links,
               double left) {
                std::vector<std::tuple<LinkId, double, int, double>> rows;
                for (auto const& f : sweep_failures(n.topology(), n.choice(), traffic, shape, links, left)) {
                    rows.emplace_back(f.link, f.rounds_per_s, f.link_class, f.stalled);
                }
                return rows;
            },
            "traffic"_a, "shape"_a, "links"_a, "left"_a, Release())
        .def(
            "fail_at_random",
            [](Network const& n, Traffic const& traffic, UnitCost const& shape, std::vector<LinkId> const& links,
               int count, double left, int trials, std::uint64_t seed) {
                for (LinkId const link : links) known_link(n.topology(), link);
                return fail_at_random(n.topology(), n.choice(), traffic, shape, links, count, left, trials, seed);
            },
            "traffic"_a, "shape"_a, "links"_a, "count"_a, "left"_a, "trials"_a, "seed"_a, Release())
        .def(
            "adaptive",
            [](Network const& n, Network const& second, Traffic const& traffic, UnitCost const& shape, int rounds) {
                if (n.topology().nodes() != second.topology().nodes() ||
                    n.topology().links() != second.topology().links()) {
                    throw std::invalid_argument("cannot balance traffic between routings of different networks");
                }
                auto found =
                    solve_adaptive(n.topology(), n.health(), n.routing(), second.routing(), traffic, shape, rounds);
                return std::tuple(std::move(found.answer), found.max_rounds_per_s, found.elsewhere);
            },
            "second"_a, "traffic"_a, "shape"_a, "rounds"_a, Release())
        .def(
            "causes",
            [](Network const& n, Traffic const& traffic, LinkId link) {
                std::vector<std::tuple<std::string, int, int, double>> rows;
                check_traffic(traffic, n.topology());
                for (auto const& c : causes(n.topology(), n.routing(), traffic, known_link(n.topology(), link))) {
                    rows.emplace_back(c.relation, c.hop, c.job, c.units);
                }
                return rows;
            },
            "traffic"_a, "link"_a, Release())
        .def(
            "shares",
            [](Network const& n, Node source, Node target) {
                std::vector<Share> found;
                n.routing().shares(known_node(n.topology(), source), known_node(n.topology(), target), found);
                std::vector<std::tuple<LinkId, double>> rows;
                for (auto const& share : found) rows.emplace_back(share.link, share.part);
                return rows;
            },
            "source"_a, "target"_a)
        .def(
            "path",
            [](Network const& n, Node source, Node target, std::uint64_t draw) {
                std::vector<LinkId> links;
                n.routing().path(known_node(n.topology(), source), known_node(n.topology(), target), draw, links);
                return links;
            },
            "source"_a, "target"_a, "draw"_a);
}

}  // namespace

NB_MODULE(_network, m) {
    m.doc() = "Network model: topologies, routings, traffic and solvers";
    m.attr("MOST_NODES") = max_nodes;
    m.attr("MOST_VERTICES") = max_vertices;
    m.attr("MOST_LINKS") = max_links;
    m.attr("MOST_DIMENSIONS") = max_dimensions;
    bind_values(m);
    bind_topologies(m);
    bind_network(m);
    static PyObject* const unknown_word = PyErr_NewException("octant._network.UnknownWord", PyExc_ValueError, nullptr);
    m.attr("UnknownWord") = nb::handle(unknown_word);
    nb::register_exception_translator([](std::exception_ptr const& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (Stopped const&) {
            PyErr_SetNone(PyExc_KeyboardInterrupt);
        } catch (UnknownWord const& error) {
            PyErr_SetObject(unknown_word, nb::make_tuple(error.what(), error.word, error.known).ptr());
        }
    });
    m.def("progress", [] {
        auto const [share, expected_s] = progress_of_work();
        return std::tuple(share, expected_s);
    });
    m.def("soft_minimum", &soft_minimum_rate, "answer"_a, "exponent"_a);
    m.def(
        "permutation",
        [](std::string const& name, int ranks, std::int64_t parameter) {
            return columns(permutation(name, ranks, parameter));
        },
        "name"_a, "ranks"_a, "parameter"_a);
    m.def("ring", [](int ranks, std::uint64_t seed) { return columns(ring(ranks, seed)); }, "ranks"_a, "seed"_a);
    m.def(
        "halo", [](std::vector<int> const& sizes, bool periodic) { return columns(halo(sizes, periodic)); }, "sizes"_a,
        "periodic"_a);
    m.def("bisection", [](int ranks) { return columns(bisection(ranks)); }, "ranks"_a);
    m.def("incast", [](int ranks, int target) { return columns(incast(ranks, target)); }, "ranks"_a, "target"_a);
    m.def("collectives", &collectives);
    m.def(
        "messages",
        [](std::string const& operation, std::string const& algorithm, int ranks) {
            return messages_of(collective(operation, algorithm, ranks));
        },
        "operation"_a, "algorithm"_a, "ranks"_a);
    m.def(
        "collective",
        [](std::string const& operation, std::string const& algorithm, int ranks) {
            std::vector<std::tuple<int, double, bool, Columns>> steps;
            for (auto const& step : collective(operation, algorithm, ranks)) {
                Flows sent;
                step.messages([&sent](int from, int to, double pieces) { sent.push(from, to, pieces); });
                steps.emplace_back(step.cut, step.times, step.segmented, columns(sent));
            }
            return steps;
        },
        "operation"_a, "algorithm"_a, "ranks"_a);
}

}  // namespace octant::network
