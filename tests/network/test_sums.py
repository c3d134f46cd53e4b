"""Loads of uniform traffic from sums over routers and dimensions, against pairs one by one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from networks import network, uniform
from octant.failure import Refusal
from octant.network import NetworkFile
from octant.network.failures import cables, failure_sweep
from octant.network.solve import engine, exact, solve

SOME = settings(max_examples=60)
ITSELF = st.sampled_from(["memory", "endpoint", "free"])

TWO_LEVEL = st.builds(
    lambda n, d, o, hosts, gang, assignment, routing, policy, hole, job, itself: network(
        "two-level-direct", routing, policy, supernodes=n, drawers=d, octants=o, hosts=hosts, links_per_host=gang,
        assignment=assignment, holes=(hole,) if hole < d * o else (), job_supernodes=min(job, n), d_ports=256,
        to_itself=itself,
    ),
    st.integers(1, 7), st.integers(1, 3), st.integers(2, 4), st.sampled_from(["drawer", "supernode"]),
    st.integers(1, 3), st.sampled_from(["modulo", "block"]), st.sampled_from(["direct", "indirect"]),
    st.sampled_from(["stall", "twin", "spread"]), st.integers(0, 12), st.integers(1, 7), ITSELF,
)  # fmt: skip
TORUS = st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=3).flatmap(
    lambda sides: st.builds(
        lambda routing, split, order, itself: network(
            "torus", routing, sizes=tuple(size for size, _ in sides), wraps=tuple(wrap for _, wrap in sides),
            split_ties=split, order=tuple(order), to_itself=itself,
        ),
        st.sampled_from(["dimension-ordered", "random-minimal", "valiant"]), st.booleans(),
        st.permutations(range(len(sides))), ITSELF,
    )
)  # fmt: skip
TREE = st.builds(
    lambda down, up, planes, routing, policy, idle: network(
        "fat-tree", routing, policy, down=tuple(down), up=tuple(up[: len(down) - 1]), planes=planes,
        job_nodes=max(1, int(np.prod(down)) - idle),
    ),
    st.lists(st.integers(1, 4), min_size=1, max_size=3), st.lists(st.integers(1, 3), min_size=2, max_size=2),
    st.integers(1, 2), st.sampled_from(["d-mod-k", "s-mod-k", "ecmp"]), st.sampled_from(["stall", "spread"]),
    st.integers(0, 5),
)  # fmt: skip
DRAGONFLY = st.builds(
    lambda groups, routers, nodes, links, routing, policy: network(
        "dragonfly", routing, policy, groups=min(groups, routers * links + 1), routers=routers, nodes_per_router=nodes,
        global_links=links,
    ),
    st.integers(2, 7), st.integers(1, 4), st.integers(1, 3), st.integers(1, 4),
    st.sampled_from(["minimal", "valiant"]), st.sampled_from(["stall", "spread"]),
)  # fmt: skip
HYPERX = st.lists(st.integers(1, 4), min_size=1, max_size=3).flatmap(
    lambda sizes: st.builds(
        lambda nodes, routing, order: network(
            "hyperx", routing, sizes=tuple(sizes), nodes_per_router=nodes, order=tuple(order)
        ),
        st.integers(1, 3), st.sampled_from(["dimension-ordered", "valiant"]), st.permutations(range(len(sizes))),
    )
)  # fmt: skip
GRAPH = st.builds(
    lambda hosts, extra: network(
        "graph", policy="recompute", hosts="n",
        edges="".join(f"n{i} s{i % 3}\n" for i in range(hosts)) + "s0 s1\ns1 s2\n" + ("s2 s0\n" if extra else ""),
    ),
    st.integers(3, 7), st.booleans(),
)  # fmt: skip
RECOMPUTED = st.one_of(
    st.builds(lambda sizes, wrap: network("torus", policy="recompute", sizes=tuple(sizes), wraps=wrap),
              st.lists(st.integers(2, 4), min_size=1, max_size=3), st.booleans()),
    st.builds(lambda n, hosts: network("two-level-direct", policy="recompute", supernodes=n, drawers=2, octants=3,
                                       hosts=hosts, links_per_host=1),
              st.integers(2, 8), st.sampled_from(["drawer", "supernode"])),
    st.builds(lambda g: network("dragonfly", policy="recompute", groups=g, routers=3, nodes_per_router=2,
                                global_links=2), st.integers(2, 6)),
)  # fmt: skip
ANY = st.one_of(TWO_LEVEL, TORUS, TREE, DRAGONFLY, HYPERX, GRAPH, RECOMPUTED)


@SOME
@given(ANY)
def test_sums_give_the_loads_of_enumeration_on_every_link(machine: NetworkFile) -> None:
    pattern = uniform(machine)
    asked = engine(machine, machine.build())
    listed = asked.enumerate(pattern.native(), pattern.shape)
    summed = exact(asked, pattern, every_link=True)
    assert summed.solver == "class aggregation"
    assert summed.loads == pytest.approx(listed.loads, rel=1e-9, abs=1e-12)
    counted = asked.by_class(pattern.native(), pattern.shape)
    assert counted.rounds_per_s == pytest.approx(listed.rounds_per_s, rel=1e-9)
    assert {b.link_class: b.links for b in counted.bottlenecks} == {b.link_class: b.links for b in listed.bottlenecks}


def rates_one_by_one(machine: NetworkFile, name: str, left: float) -> list[float]:
    """Return the remaining rates after each failure of a cable of a class, by enumeration of all pairs."""
    topology = machine.build()
    ends = list(zip(*(column.tolist() for column in topology.ends()), strict=True))
    same = [[i for i, pair in enumerate(ends) if pair == one] for one in ends]
    rates = []
    for link in cables(machine, name).tolist():
        back = [i for i, (a, b) in enumerate(ends) if (b, a) == ends[link] and a != b][same[link].index(link)]
        scale = np.ones(topology.links)
        scale[[link, back]] = left
        try:
            rates.append(solve(machine, uniform(machine), "enumeration", scale=scale).rate_per_s)
        except Refusal:  # no path is left
            rates.append(0.0)
    return rates


@settings(SOME, max_examples=30)
@given(st.one_of(TWO_LEVEL, DRAGONFLY, RECOMPUTED), st.sampled_from([0.0, 0.5]))
def test_a_sweep_of_sums_gives_the_rates_of_enumeration(machine: NetworkFile, left: float) -> None:
    for name in machine.links:
        if not len(cables(machine, name)) or math.isinf(solve(machine, uniform(machine)).rate_per_s):
            continue
        sweep = failure_sweep(machine, uniform(machine), name, left=left)
        assert sweep.rates_per_s == pytest.approx(rates_one_by_one(machine, name, left), rel=1e-9)


@settings(SOME, max_examples=30)
@given(
    st.integers(2, 9), st.integers(1, 3), st.integers(2, 4), st.sampled_from(["drawer", "supernode"]),
    st.integers(1, 2), st.sampled_from(["modulo", "block"]), st.integers(0, 12),
)  # fmt: skip
def test_one_cable_of_each_kind_speaks_for_all(
    supernodes: int, drawers: int, octants: int, hosts: str, gang: int, assignment: str, hole: int
) -> None:
    machine = network(
        "two-level-direct", policy="recompute", supernodes=supernodes, drawers=drawers, octants=octants, hosts=hosts,
        links_per_host=gang, assignment=assignment, holes=(hole,) if hole < drawers * octants else (), d_ports=256,
        rates={"D": 3e5, "L-local": 7e5},
    )  # fmt: skip
    for name in ("L-local", "L-remote", "D"):
        if len(cables(machine, name)):
            sweep = failure_sweep(machine, uniform(machine), name)
            assert sweep.rates_per_s == pytest.approx(rates_one_by_one(machine, name, 0.0), rel=1e-9)
