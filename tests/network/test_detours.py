"""Policy `detour`: exact loads of all its routes, bounds from maximum flows, and intact routes as before."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from networks import flows, network, uniform
from octant.network import NetworkFile, load, make, solve
from octant.network.failures import cables, failure_sweep, random_by_default, sweep_by_default
from octant.network.solve import engine

Parts = list[tuple[tuple[int, ...], Fraction]]
"""Routes as lists of fabric links, with the share of each."""


def evenly(choices: Iterable[Parts]) -> Parts:
    """Each choice with the same share; the choice is a list of routes with shares of 1 in total."""
    found = list(choices)
    return [(route, part / len(found)) for routes in found for route, part in routes]


def then(first: Parts, link: tuple[int, ...], last: Parts) -> Parts:
    return [(a + link + b, p * q) for a, p in first for b, q in last]


class Grouped:
    """A dragonfly or a two-level network as a graph, and the routes of the policy in it. Ports are not looked at."""

    def __init__(self, machine: NetworkFile, down: Iterable[int]) -> None:
        self.machine, self.topology = machine, machine.build()
        self.down = set(down)
        sources, targets = (ends.tolist() for ends in self.topology.ends())
        self.outer = machine.class_names.index(machine.topology.link_classes()[-1])
        self.first = 0 if machine.topology.switches() == 0 else machine.topology.nodes()
        per_router = machine.topology.nodes() // (machine.topology.switches() or machine.topology.nodes())
        self.size = machine.topology.nodes_per_part() // per_router
        self.near: dict[tuple[int, int], int] = {}
        self.far: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
        self.out: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for link in range(self.topology.fabric, self.topology.links):
            a, b = sources[link], targets[link]
            if link not in self.down:
                self.out[a].append((b, link))
            if self.topology.class_of(link) != self.outer:
                self.near[a, b] = link
            elif link not in self.down:
                self.far[self.group(a), self.group(b)].append((a, b, link))
        self.groups = range(machine.topology.nodes() // machine.topology.nodes_per_part())

    def group(self, router: int) -> int:
        return (router - self.first) // self.size

    def hop(self, a: int, b: int, bends: bool) -> Parts:
        if a == b:
            return [((), Fraction(1))]
        if self.near[a, b] not in self.down:
            return [((self.near[a, b],), Fraction(1))]
        inside = range(self.first + self.group(a) * self.size, self.first + (self.group(a) + 1) * self.size)
        pairs = [(self.near[a, c], self.near[c, b]) for c in inside if c not in (a, b)]
        return evenly([(pair, Fraction(1))] for pair in pairs if bends and not self.down & set(pair))

    def direct(self, a: int, b: int, bends: bool) -> Parts:
        if self.group(a) == self.group(b):
            return self.hop(a, b, bends)
        found = (
            then(self.hop(a, x, bends), (link,), self.hop(y, b, bends))
            for x, y, link in self.far[self.group(a), self.group(b)]
        )
        return evenly(routes for routes in found if routes)

    def over(self, a: int, third: int, b: int, bends: bool) -> Parts:
        found = (
            then(self.hop(a, x, bends), (link,), self.direct(y, b, bends))
            for x, y, link in self.far[self.group(a), third]
        )
        return evenly(routes for routes in found if routes)

    def over_thirds(self, a: int, b: int, bends: bool) -> Parts:
        thirds = (third for third in self.groups if third not in (self.group(a), self.group(b)))
        return evenly(routes for third in thirds if (routes := self.over(a, third, b, bends)))

    def shortest(self, a: int, b: int) -> Parts:
        away, line = {b: 0}, [b]
        for v in line:
            for u, outward in self.out.items():
                if u not in away and any(to == v for to, _ in outward):
                    away[u] = away[v] + 1
                    line.append(u)

        def onward(v: int) -> Parts:
            if v == b:
                return [((), Fraction(1))]
            nearer = ((to, link) for to, link in self.out[v] if away.get(to, -1) + 1 == away[v])
            return evenly(then([((link,), Fraction(1))], (), onward(to)) for to, link in nearer if to in away)

        return onward(a) if a in away else []

    def routes(self, s: int, t: int) -> Parts:
        """The routes from node to node; none if the nodes are not connected."""
        a, b = self.topology.entry(s), self.topology.entry(t)
        if self.group(a) == self.group(b):
            return self.direct(a, b, False) or self.direct(a, b, True) or self.shortest(a, b)
        return (
            self.ordinary(a, b) or self.direct(a, b, False) or self.direct(a, b, True)
            or self.over_thirds(a, b, False) or self.over_thirds(a, b, True) or self.shortest(a, b)
        )  # fmt: skip

    def ordinary(self, a: int, b: int) -> Parts:
        """Routes before any detour, if they are intact; those of a two-level network with policy `spread`."""
        name = self.machine.routing.name
        if name == "valiant" and len(self.groups) > 2:
            thirds = [third for third in self.groups if third not in (self.group(a), self.group(b))]
            ways = [self.over(a, third, b, False) for third in thirds if self.whole(a, third, b)]
            return evenly(way for way in ways if way)
        if name != "direct":
            return []
        words = replace(self.machine.routing, policy="spread")
        shares = fabric_shares(replace(self.machine, routing=words), self.down, a, b)
        return [] if self.down & set(shares) else [((link,), Fraction(part)) for link, part in shares.items()]

    def whole(self, a: int, third: int, b: int) -> bool:
        """Whether no local hop is broken, whichever working global links a packet takes over a third group."""
        into, out = self.far[self.group(a), third], self.far[third, self.group(b)]
        hops = [(a, x) for x, _, _ in into] + [(y, b) for _, y, _ in out]
        hops += [(y, x) for _, y, _ in into for x, _, _ in out]
        return bool(into and out) and all(self.hop(x, y, False) for x, y in hops)


def damaged(machine: NetworkFile, down: Iterable[int]) -> NDArray[np.float64]:
    scale = np.ones(machine.build().links)
    scale[list(down)] = 0
    return scale


def fabric_shares(machine: NetworkFile, down: Iterable[int], s: int, t: int) -> dict[int, float]:
    topology = machine.build()
    found: dict[int, float] = defaultdict(float)
    for link, part in engine(machine, topology, damaged(machine, down)).shares(s, t):
        if link >= topology.fabric:
            found[link] += part
    return found


Case = tuple[str, str, dict[str, Any]]
FLIES: dict[str, dict[str, Any]] = {
    "one link per pair": {"groups": 5, "routers": 2, "nodes_per_router": 2, "global_links": 2},
    "parallel links": {"groups": 3, "routers": 4, "nodes_per_router": 1, "global_links": 1},
    "pairs with more links": {"groups": 4, "routers": 3, "nodes_per_router": 1, "global_links": 2},
    "two groups": {"groups": 2, "routers": 3, "nodes_per_router": 1, "global_links": 1},
}
LEVELS: dict[str, dict[str, Any]] = {
    "one link per pair": {"supernodes": 5, "drawers": 2, "octants": 2, "links_per_host": 1, "hosts": "supernode"},
    "four links per pair": {"supernodes": 3, "drawers": 2, "octants": 2, "links_per_host": 2},
}
CASES: list[Case] = [
    *(("dragonfly", routing, shape) for shape in FLIES.values() for routing in ("minimal", "valiant")),
    *(("two-level-direct", "direct", shape) for shape in LEVELS.values()),
]


def cable(sources: list[int], targets: list[int], fabric: int, link: int) -> list[int]:
    """Both directions of a cable; parallel cables are matched by their order."""
    there = [i for i in range(fabric, len(sources)) if (sources[i], targets[i]) == (sources[link], targets[link])]
    back = [i for i in range(fabric, len(sources)) if (targets[i], sources[i]) == (sources[link], targets[link])]
    return [link, back[there.index(link)]]


def failures_of(machine: NetworkFile) -> Iterator[list[int]]:
    """One cable of every class, two and four cables, and the links of a router; both directions fail."""
    topology = machine.build()
    sources, targets = (ends.tolist() for ends in topology.ends())
    generator = np.random.default_rng(3)
    for name in machine.topology.link_classes():
        listed = cables(machine, name).tolist()
        for count in (1, 2, 4) if listed else ():
            chosen = generator.choice(listed, min(count, len(listed)), False).tolist()
            yield [i for link in chosen for i in cable(sources, targets, topology.fabric, link)]
    pair = [i for i in range(topology.fabric, topology.links) if topology.class_of(i) == len(machine.class_names) - 1]
    ends = {sources[pair[0]], targets[pair[0]]}
    yield [i for i in pair if {sources[i], targets[i]} == ends]  # all parallel cables of two routers
    yield [i for i in range(topology.fabric, topology.links) if sources[pair[0]] in (sources[i], targets[i])]


@pytest.mark.parametrize(("kind", "routing", "shape"), CASES, ids=lambda case: case if isinstance(case, str) else "")
def test_loads_are_those_of_all_routes_one_by_one(kind: str, routing: str, shape: dict[str, Any]) -> None:
    machine = network(kind, routing, "detour", **shape)
    topology = machine.build()
    nodes = machine.topology.nodes()
    for down in failures_of(machine):
        known, apart = Grouped(machine, down), []
        loads: dict[int, Fraction | float] = defaultdict(Fraction)
        for s in range(nodes):
            for t in range(nodes):
                routes = known.routes(s, t)
                if not routes:
                    apart.append((s, t))
                for route, part in routes:
                    for link in route:
                        loads[link] += part / nodes
        pattern = uniform(machine)
        routed = engine(machine, topology, damaged(machine, down))
        summed = routed.exactly(pattern.native(), pattern.shape, True).loads
        listed = solve(machine, pattern, "enumeration", scale=damaged(machine, down)).loads
        expected = np.array([float(loads[link]) for link in range(topology.fabric, topology.links)])
        up = np.setdiff1d(np.arange(topology.fabric, topology.links), down)
        assert summed == pytest.approx(listed, abs=1e-12)
        assert (listed[down].sum() > 0) == bool(apart)  # traffic without a route stays on links without capacity
        if not apart:
            assert listed[up] == pytest.approx(expected[up - topology.fabric], abs=1e-12)


GROUPS_OF_DIFFERENT_SIZES = "\n".join(
    ["a1 a2", "b1 b2", "b2 b3", "b1 b3", "a1 b1", "a2 c1", "b2 c1", "b3 d1", "c1 d1", "a1 d1"]
)
OTHERS: list[Case] = [
    ("torus", "dimension-ordered", {"sizes": (3, 4)}),
    ("torus", "random-minimal", {"sizes": (3, 3), "wraps": False}),
    ("torus", "valiant", {"sizes": (2, 3)}),
    ("hyperx", "dimension-ordered", {"sizes": (3, 3), "nodes_per_router": 1}),
    ("hyperx", "valiant", {"sizes": (4,), "nodes_per_router": 1}),
    ("fat-tree", "d-mod-k", {"down": (2, 3), "up": (2,)}),
    ("fat-tree", "ecmp", {"down": (2, 3), "up": (3,)}),
    ("two-level-direct", "indirect", {"supernodes": 4, "drawers": 1, "octants": 2, "links_per_host": 1}),
    ("graph", "ecmp", {"edges": GROUPS_OF_DIFFERENT_SIZES}),
]


@pytest.mark.parametrize(("kind", "routing", "shape"), OTHERS)
def test_other_networks_keep_intact_routes_and_use_all_shortest_paths_for_the_rest(
    kind: str, routing: str, shape: dict[str, Any]
) -> None:
    machine = network(kind, routing, "detour", **shape)
    nodes, broken = machine.topology.nodes(), 0
    for down in failures_of(machine):
        known = Grouped(machine, down)
        for s in range(nodes):
            for t in range(nodes):
                now, before = (fabric_shares(machine, links, s, t) for links in (down, ()))
                if not before.keys() & set(down):
                    assert now == pytest.approx(before)
                elif routing in ("valiant", "indirect"):
                    assert not now.keys() & set(down) or not known.shortest(s, t)
                else:
                    broken += 1
                    expected: dict[int, float] = defaultdict(float)
                    for route, part in known.shortest(known.topology.entry(s), known.topology.entry(t)):
                        for link in route:
                            expected[link] += float(part)
                    assert now == pytest.approx(expected or before)
    assert broken or routing in ("valiant", "indirect")


def maximum_flow(machine: NetworkFile, down: Iterable[int], s: int, t: int) -> int:
    """The optimum of the linear program that routes as much as possible from one node to another, by augmentation."""
    topology = machine.build()
    room: dict[tuple[int, int], int] = defaultdict(int)
    for link in set(range(topology.fabric, topology.links)) - set(down):
        room[topology.ends()[0][link], topology.ends()[1][link]] += 1
    a, b, found = topology.entry(s), topology.entry(t), 0
    while True:
        came, line = {a: a}, [a]
        for v in line:
            fresh = [w for (u, w), left in room.items() if u == v and left > 0 and w not in came]
            came |= dict.fromkeys(fresh, v)
            line += fresh
        if b not in came:
            return found
        while b != a:
            room[came[b], b] -= 1
            room[b, came[b]] += 1
            b = came[b]
        b, found = topology.entry(t), found + 1


@pytest.mark.parametrize(
    ("kind", "shape", "optimal"),
    [
        ("dragonfly", {"groups": 5, "routers": 1, "nodes_per_router": 1, "global_links": 4}, True),
        ("hyperx", {"sizes": (5,), "nodes_per_router": 1}, True),
        ("fat-tree", {"down": (1, 3), "up": (3,)}, False),
        ("torus", {"sizes": (4, 4)}, False),
        ("dragonfly", {"groups": 3, "routers": 3, "nodes_per_router": 1, "global_links": 2}, False),
    ],
)
def test_no_rate_exceeds_the_linear_program_and_symmetric_detours_reach_it(
    kind: str, shape: dict[str, Any], optimal: bool
) -> None:
    """All links carry 1 MB/s and the endpoints more, so the rate of a single flow is at most the maximum flow."""
    machine = network(kind, policy="detour", rates={"endpoint": 1e9}, **shape)
    topology = machine.build()
    sources, targets = topology.ends()
    last = machine.topology.nodes() - 1
    route = engine(machine, topology).path(0, last, 0)[1:-1]
    ends = {sources[route[len(route) // 2]], targets[route[len(route) // 2]]}
    down = [i for i in range(topology.fabric, topology.links) if {sources[i], targets[i]} == ends]
    flow = flows(machine, np.array([0]), np.array([last]))
    rate = solve(machine, flow, scale=damaged(machine, down)).rate_per_s / 1e6
    most = maximum_flow(machine, down, 0, last)
    assert 0 < rate <= most + 1e-9
    assert not optimal or rate == pytest.approx(most)


CATALOGUE = [
    load("bgp"), load("dragonfly-example").at_size(5), load("hyperx-example").at_size(3),
    load("power575-ib").at_size(40), load("power775").at_size(3),
]  # fmt: skip
UNDAMAGED = [*CATALOGUE, *(network(kind, routing, **shape) for kind, routing, shape in [*CASES, *OTHERS])]


@pytest.mark.parametrize("machine", UNDAMAGED, ids=lambda machine: machine.name)
def test_without_a_failure_the_policy_is_the_ordinary_routing(machine: NetworkFile) -> None:
    topology = machine.build()
    ordinary, detours = (
        replace(machine, routing=replace(machine.routing, policy=policy)) for policy in ("stall", "detour")
    )
    whole = engine(ordinary, topology)
    generator = np.random.default_rng(1)
    for scale in (np.empty(0), np.ones(topology.links), np.full(topology.links, 0.5)):
        other = engine(detours, topology, scale)
        for s, t in generator.choice(machine.topology.active(), (40, 2)).tolist():
            assert other.shares(s, t) == whole.shares(s, t)
            assert [other.path(s, t, draw) for draw in range(3)] == [whole.path(s, t, draw) for draw in range(3)]
    assert solve(detours, uniform(machine)) == solve(ordinary, uniform(machine))


@settings(max_examples=30)
@given(st.sampled_from([*CASES, *OTHERS]), st.integers(0, 10**6))
def test_paths_of_packets_are_routes_of_the_policy(case: Case, seed: int) -> None:
    machine = network(case[0], case[1], "detour", **case[2])
    topology, generator = machine.build(), np.random.default_rng(seed)
    sources, targets = topology.ends()
    down = generator.integers(topology.fabric, topology.links, generator.integers(1, 7)).tolist()
    routed = engine(machine, topology, damaged(machine, down))
    s, t = generator.choice(machine.topology.nodes(), 2, replace=False).tolist()
    shares = fabric_shares(machine, down, s, t)
    seen: dict[int, float] = defaultdict(float)
    for draw in range(1000):
        path = routed.path(s, t, seed + draw)[1:-1]
        stops = [topology.entry(s), *(targets[link] for link in path)]
        assert stops[:-1] == [sources[link] for link in path]
        assert stops[-1] == topology.entry(t)
        for link in path:
            seen[link] += 1 / 1000
    assert seen == pytest.approx(shares, abs=0.1)


def connections(machine: NetworkFile, down: Iterable[int], pairs: Iterable[tuple[int, int]]) -> list[bool]:
    """Whether any path of links that are up joins the nodes of each pair. Every vertex of these networks forwards."""
    topology = machine.build()
    part = list(range(topology.vertices))
    for link in sorted(set(range(topology.fabric, topology.links)) - set(down)):
        a, b = (part[ends[link]] for ends in topology.ends())
        part = [a if one == b else one for one in part]
    return [part[topology.entry(s)] == part[topology.entry(t)] for s, t in pairs]


@pytest.mark.parametrize(("kind", "routing", "shape"), [*CASES, *OTHERS])
@pytest.mark.parametrize("traffic", ["uniform", "pairs"])
def test_the_sweep_gives_what_a_new_solution_gives(
    kind: str, routing: str, shape: dict[str, Any], traffic: str
) -> None:
    machine = network(kind, routing, "detour", **shape)
    topology, nodes = machine.build(), machine.topology.nodes()
    sources, targets = (ends.tolist() for ends in topology.ends())
    pattern, pairs = uniform(machine), [(s, t) for s in range(nodes) for t in range(nodes) if s != t]
    if traffic == "pairs":
        pairs = np.random.default_rng(7).choice(nodes, (20, 2)).tolist()
        pattern = flows(machine, *np.array(pairs).T)
    for name in machine.topology.link_classes():
        if not len(listed := cables(machine, name)):
            continue
        sweep = failure_sweep(machine, pattern, name)
        assert sweep.base_per_s == solve(machine, pattern).rate_per_s
        lost = []
        for i, (link, rate) in enumerate(zip(listed.tolist(), sweep.rates_per_s, strict=True)):
            down = cable(sources, targets, topology.fabric, link)
            if i % 3 == 0:
                anew = solve(machine, pattern, "enumeration", scale=damaged(machine, down))
                assert rate == pytest.approx(anew.rate_per_s, rel=1e-9)
            lost.append(sum(not joined for joined in connections(machine, down, pairs)))
        assert sweep.disconnected_pairs == max(lost)
        assert sweep.stalling == sum(count > 0 for count in lost)


def test_the_default_policy_detours_only_where_the_policy_of_the_network_stops_traffic() -> None:
    shape: dict[str, Any] = {"groups": 4, "routers": 3, "nodes_per_router": 1, "global_links": 1}
    machine = network("dragonfly", **shape)
    found = sweep_by_default(machine, uniform(machine), "global")
    assert (found.policy, found.replaced_policy, found.stalling) == ("detour", "stall", 0)
    assert found.base_per_s == solve(machine, uniform(machine)).rate_per_s
    assert list(found.quantiles_per_s) == ["minimum", "lower quartile", "median", "upper quartile", "maximum"]
    assert 0 < found.worst_per_s == found.quantiles_per_s["minimum"] <= found.base_per_s
    drawn = random_by_default(machine, uniform(machine), "global", 1, 6)
    assert (drawn.policy, drawn.replaced_policy, drawn.cut_off) == ("detour", "stall", 0)
    parallel = network("dragonfly", policy="spread", **{**shape, "global_links": 2})
    kept = sweep_by_default(parallel, uniform(parallel), "global")
    assert (kept.policy, kept.replaced_policy, kept.stalling) == ("spread", "", 0)
    assert random_by_default(parallel, uniform(parallel), "global", 1, 6).policy == "spread"
    lanes = sweep_by_default(machine, uniform(machine), "global", left=0.5)
    assert (lanes.policy, lanes.replaced_policy) == ("stall", "")


def test_a_global_cable_of_the_example_costs_a_few_percent_and_a_node_without_a_cable_is_counted() -> None:
    fly = load("dragonfly-example")
    found = sweep_by_default(fly, make(fly, "uniform"), "global")
    assert len(found.links) == 528
    assert all(0.96 < rate / found.base_per_s < 0.98 for rate in found.quantiles_per_s.values())
    tree = network("fat-tree", down=(2, 2), up=(2,))
    ports = sweep_by_default(tree, uniform(tree), "port")
    assert (ports.stalling, ports.disconnected_pairs, ports.pairs, ports.quantiles_per_s) == (4, 6, 12, {})
