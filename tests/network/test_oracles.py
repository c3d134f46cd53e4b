"""Loads that are known exactly: by hand, in closed form, or by another exact way."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from msgspec import structs

from networks import flows, largest, network, uniform
from octant import _network
from octant.network import Prediction, load, make, solve
from octant.network.traffic import place
from octant.network.whatif import bracket

# D, L-local and L-remote load of the most loaded link per unit that each octant sends to all, with 31 octants in each
# of N supernodes: 4 / N; (n1 + 8 n2 / 31) / N + 1 / 31 N and 8 n1 / 31 N + 1 / 31 N, where n1 ≥ n2 remote supernodes
# hang on the two fullest host octants. By hand from the wiring that RC25366, sections 2 and 4.1, implies.
TWO_LEVEL = {
    2: (2.0000, 0.5161, 0.1452), 8: (0.5000, 0.1613, 0.0363), 16: (0.2500, 0.1593, 0.0343),
    24: (0.1667, 0.1586, 0.0336), 25: (0.1600, 0.1923, 0.0426), 26: (0.1538, 0.1948, 0.0409),
    32: (0.1250, 0.1583, 0.0333), 33: (0.1212, 0.1838, 0.0401), 40: (0.1000, 0.1581, 0.0331),
    41: (0.0976, 0.1786, 0.0386), 48: (0.0833, 0.1579, 0.0329), 64: (0.0625, 0.1578, 0.0328),
}  # fmt: skip


@pytest.mark.parametrize(("supernodes", "expected"), TWO_LEVEL.items())
@pytest.mark.parametrize("solver", ["class", "enumeration"])
def test_two_level_loads_are_those_of_the_closed_form(
    supernodes: int, expected: tuple[float, float, float], solver: str
) -> None:
    machine = load("power775").at_size(supernodes)
    answer = solve(machine, make(machine, "randomaccess"), solver)  # type: ignore[arg-type]
    assert [largest(answer, name) for name in ("D", "L-local", "L-remote")] == pytest.approx(expected, abs=5.01e-5)


@pytest.mark.parametrize("supernodes", [1, 2, 3, 9, 25, 70, 130])
def test_counting_by_class_equals_enumeration(supernodes: int) -> None:
    machine = load("power775").at_size(supernodes)
    pattern = make(machine, "randomaccess")
    counted, listed = (solve(machine, pattern, solver) for solver in ("class", "enumeration"))
    assert {b.link_class: b.links for b in counted.bottlenecks} == {b.link_class: b.links for b in listed.bottlenecks}
    for b in counted.bottlenecks:
        assert largest(listed, b.link_class) == pytest.approx(b.load, rel=1e-12)


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("torus", {"sizes": (5, 4, 3)}),
        ("torus", {"sizes": (4, 4), "routing": "random-minimal"}),
        ("torus", {"sizes": (6,), "routing": "valiant"}),
        ("dragonfly", {"groups": 5, "routers": 4, "nodes_per_router": 2, "global_links": 1}),
        ("dragonfly", {"groups": 3, "routers": 4, "nodes_per_router": 2, "global_links": 2, "routing": "valiant"}),
        ("hyperx", {"sizes": (3, 4), "nodes_per_router": 2}),
        ("hyperx", {"sizes": (3, 3), "nodes_per_router": 1, "routing": "valiant"}),
    ],
)
def test_one_source_speaks_for_all_of_a_symmetric_network(kind: str, shape: dict[str, object]) -> None:
    machine = network(kind, **shape)  # type: ignore[arg-type]
    counted, listed = (solve(machine, uniform(machine), solver) for solver in ("class", "enumeration"))
    for b in counted.bottlenecks:
        assert largest(listed, b.link_class) == pytest.approx(b.load, rel=1e-12)


@pytest.mark.parametrize(("sizes", "expected"), [((4, 4, 4), 48), ((32, 32, 16), 69_632)])
def test_all_to_all_on_a_torus_loads_the_hottest_link_as_known(sizes: tuple[int, ...], expected: int) -> None:
    machine = network("torus", sizes=sizes, split_ties=False)
    answer = solve(machine, uniform(machine))
    assert largest(answer, "link") * machine.topology.nodes() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("experiment", "routing", "expected"),
    [
        ("g", "dimension-ordered", 8), ("g", "random-minimal", 8), ("h", "dimension-ordered", 8),
        ("h", "random-minimal", 16.05),
    ],
)  # fmt: skip
def test_mesh_exchange_loads_are_those_of_both_routings(experiment: str, routing: str, expected: float) -> None:
    mesh = network("torus", routing, sizes=(4, 4, 4), wraps=False)
    node = np.arange(64, dtype=np.int32)
    partner = (node + 32) % 64 if experiment == "g" else 63 - node
    answer = solve(mesh, flows(mesh, node, partner, np.full(64, 4.0)))
    assert largest(answer, "link") == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("distance", [1, 11, 12, 13, 71, 143])
def test_d_mod_k_carries_every_shift_without_contention(distance: int) -> None:
    tree = network("fat-tree", down=(12, 12), up=(12,))
    answer = solve(tree, make(tree, "shift", distance))
    assert largest(answer, "trunk") <= 1
    assert largest(answer, "port") == 1


@pytest.mark.parametrize(("routing", "out_of_one", "into_one"), [("d-mod-k", 4, 1), ("s-mod-k", 1, 4), ("ecmp", 4, 4)])
def test_mod_k_routes_choose_their_spine_by_one_end(routing: str, out_of_one: int, into_one: int) -> None:
    """Number of spines that traffic of node 0 to another leaf uses, and traffic from there to node 0."""
    tree = network("fat-tree", routing, down=(4, 2), up=(4,))
    topology = tree.build()
    one, other = np.zeros(4, np.int32), np.arange(4, 8, dtype=np.int32)
    trunks = topology.link_classes() == tree.class_names.index("trunk")
    used = [np.sum(solve(tree, flows(tree, *ends)).loads[trunks] > 0) / 2 for ends in ((one, other), (other, one))]
    assert used == [out_of_one, into_one]


def test_three_levels_carry_every_shift_too() -> None:
    tree = network("fat-tree", down=(4, 4, 4), up=(4, 4))
    for distance in (1, 4, 15, 16, 17, 63):
        assert largest(solve(tree, make(tree, "shift", distance)), "trunk") <= 1


def test_adjacent_groups_of_a_dragonfly_share_their_few_links() -> None:
    machine = network("dragonfly", groups=9, routers=4, nodes_per_router=2, global_links=2)
    pattern = make(machine, "shift", 8)  # every node sends into the next group
    minimal = solve(machine, pattern)
    assert largest(minimal, "global") == 8  # p × a nodes over one link
    spread = solve(network("dragonfly", "valiant", groups=9, routers=4, nodes_per_router=2, global_links=2), pattern)
    assert largest(spread, "global") < 8 / 3


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("torus", {"sizes": (4, 4)}),
        ("hyperx", {"sizes": (4, 4), "nodes_per_router": 2}),
        ("dragonfly", {"groups": 9, "routers": 4, "nodes_per_router": 2, "global_links": 2}),
    ],
)
@pytest.mark.parametrize("distance", [1, 3, 8])
def test_valiant_never_loads_more_than_twice_the_uniform_load(
    kind: str, shape: dict[str, object], distance: int
) -> None:
    direct = network(kind, **shape)  # type: ignore[arg-type]
    bounced = network(kind, "valiant", **shape)  # type: ignore[arg-type]
    everybody = solve(direct, uniform(direct), "enumeration")
    shifted = solve(bounced, make(bounced, "shift", distance))
    slack = (
        1.35 if kind == "dragonfly" else 1.0
    )  # its intermediate groups exclude both ends: (g - 1) / (g - 2), and hops
    for name in direct.links:
        assert largest(shifted, name) <= 2 * slack * largest(everybody, name) + 1e-9


def test_letters_place_ranks_as_on_blue_gene() -> None:
    machine = network("torus", sizes=(4, 2, 2))
    assert place(machine, "TXYZ", 8, 4).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert place(machine, "XYZT", 18, 4).tolist() == [*range(16), 0, 1]
    assert place(machine, "ZYXT", 3, 1).tolist() == [0, 8, 4]


@pytest.mark.parametrize("order", ["block", "round-robin", "diagonal-cyclic"])
def test_every_order_uses_every_place_once(order: str) -> None:
    machine = network("two-level-direct", supernodes=3, drawers=2, octants=4, holes=(7,))
    nodes = place(machine, order, 21)
    assert sorted(nodes.tolist()) == sorted(machine.topology.active().tolist())


@pytest.mark.parametrize(
    ("name", "ranks", "parameter", "targets"),
    [
        ("shift", 5, -1, [4, 0, 1, 2, 3]),
        ("reverse", 4, 0, [3, 2, 1, 0]),
        ("tornado", 8, 0, [3, 4, 5, 6, 7, 0, 1, 2]),
        ("tornado", 5, 0, [2, 3, 4, 0, 1]),
        ("transpose", 9, 0, [0, 3, 6, 1, 4, 7, 2, 5, 8]),
        ("bit-reverse", 8, 0, [0, 4, 2, 6, 1, 5, 3, 7]),
    ],
)
def test_permutations_are_the_textbooks(name: str, ranks: int, parameter: int, targets: list[int]) -> None:
    assert _network.permutation(name, ranks, parameter)[1].tolist() == targets


def test_random_permutations_and_rings_use_every_rank_once() -> None:
    orders = {tuple(_network.permutation("random", 50, seed)[1].tolist()) for seed in range(20)}
    assert len(orders) == 20
    assert all(sorted(order) == list(range(50)) for order in orders)
    sources, targets, _ = _network.ring(50, 7)
    pairs = set(zip(sources.tolist(), targets.tolist(), strict=True))
    assert len(pairs) == 100
    assert pairs == {(b, a) for a, b in pairs}
    assert np.bincount(sources).tolist() == [2] * 50


# Without wrapping 2 × 4 faces across x, 6 across y and 6 across z, both ways; with it two neighbours each way.
@pytest.mark.parametrize(("periodic", "messages"), [(True, 2 * 3 * 12), (False, 2 * (2 * 4 + 6 + 6))])
def test_a_halo_goes_to_the_neighbours_of_every_side(periodic: bool, messages: int) -> None:
    sources, targets, _ = _network.halo([3, 2, 2], periodic)
    step = np.abs(
        np.stack([targets % 3 - sources % 3, targets // 3 % 2 - sources // 3 % 2, targets // 6 - sources // 6])
    )
    assert (np.count_nonzero(step, axis=0) == 1).all()
    assert len(sources) == messages


def test_indirect_routes_of_a_pair_use_all_third_supernodes() -> None:
    """Two supernodes of a larger machine: their traffic has (M - 1) × 8 D links."""
    whole = load("power775")
    rates = {}
    for built in (2, 4, 8):
        shape = structs.replace(whole.topology, supernodes=built, job_supernodes=2)
        words = structs.replace(whole.routing, name="indirect", with_direct=True)
        machine = structs.replace(whole, topology=shape, routing=words)
        rates[built] = solve(machine, make(machine, "ptrans")).rate_per_s
    assert rates[2] == pytest.approx(4.2e9)
    assert rates[4] == pytest.approx(3 * 4.2e9)
    assert rates[8] == pytest.approx(7 * 4.2e9)


@pytest.mark.parametrize("with_direct", [0.0, 1.0])
@pytest.mark.parametrize("policy", ["stall", "twin", "spread"])
@pytest.mark.parametrize("nodes", [range(5 * 32), (0, 3, 33, 70, 71, 159), (4, 40)])
def test_indirect_routes_taken_together_load_what_they_load_one_by_one(
    nodes: Sequence[int], policy: str, with_direct: float
) -> None:
    machine = load("power775").at_size(5)
    topology = machine.build()
    left = np.ones(topology.links)
    cables = [link for link in range(topology.links) if machine.class_names[topology.class_of(link)] == "D"]
    left[cables[::7]] = 0
    asked = _network.Network(topology, "indirect", policy, {"with_direct": with_direct}, [], left)
    everybody = replace(uniform(machine), active=np.array(nodes, np.int32))
    sources, targets = (np.array(ends, np.int32) for ends in zip(*product(nodes, nodes), strict=True))
    pairs = flows(machine, sources, targets, np.full(len(sources), 1 / len(nodes)))
    together, one_by_one = (asked.enumerate(p.native(), p.shape).loads for p in (everybody, pairs))
    assert np.count_nonzero(together) > 0
    assert together == pytest.approx(one_by_one, rel=1e-12)


def test_block_assignment_has_the_same_d_loads_but_chokes_small_jobs() -> None:
    """A wiring that the published curve excludes: with supernodes dealt in blocks L-local limits few of them."""
    whole = load("power775")

    def job(assignment: str, supernodes: int) -> Prediction:
        change = {"assignment": assignment, "job_supernodes": supernodes}
        machine = structs.replace(whole, topology=structs.replace(whole.topology, **change))
        return solve(machine, make(machine, "randomaccess"))

    assert largest(job("modulo", 64), "D") == pytest.approx(largest(job("block", 64), "D"))
    assert largest(job("block", 8), "L-local") > 4 * largest(job("modulo", 8), "L-local")


def test_the_ideal_split_of_adjacent_groups_lies_in_its_bracket() -> None:
    """p × a = 8 nodes want one link, or use 7 third groups as well, whose links carry two transits each."""
    fly = network(
        "dragonfly", groups=9, routers=4, nodes_per_router=2, global_links=2, rates={"group": 1e9, "endpoint": 1e9}
    )
    pattern = make(fly, "shift", 8)
    found = bracket(fly, pattern, "valiant")
    assert found.first_per_s == pytest.approx(1e6 / 8)
    assert found.second_per_s == pytest.approx(1e6 / (16 / 7))
    # Direct share d loads the link by 8 d, transits load the others by 16 (1 - d) / 7: equal at d = 2 / 9.
    assert found.ideal_per_s == pytest.approx(1e6 / (16 / 9), rel=2e-3)
    assert found.ideal_per_s <= found.ideal_at_most_per_s <= found.ideal_per_s * 1.005
    assert found.on_second == pytest.approx(7 / 9, abs=0.01)


def test_patterns_of_the_mpi_benchmarks_have_their_names() -> None:
    ring = network("torus", sizes=(6,))
    loads = {name: make(ring, name).flows for name in ("pingping", "sendrecv", "exchange")}
    assert [len(f) for f in loads.values() if f] == [2, 6, 12]
    assert solve(ring, make(ring, "exchange")).time_s == pytest.approx(2e-6)  # two messages leave every node
