"""Cabling of dragonflies of any size: every port that can be used is, evenly, and all groups look alike."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from networks import network, uniform
from octant.network import load, make, solve
from octant.network.export import write
from octant.network.files import parse
from octant.network.scale import scale

DRAGONFLIES = st.tuples(st.integers(2, 12), st.integers(1, 5), st.integers(1, 5)).filter(
    lambda shape: shape[1] * shape[2] >= shape[0] - 1
)


@settings(max_examples=60)
@given(DRAGONFLIES)
def test_global_links_are_spread_evenly(shape: tuple[int, int, int]) -> None:
    groups, routers, ports = shape
    net = network("dragonfly", groups=groups, routers=routers, nodes_per_router=1, global_links=ports)
    topology = net.build()
    sources, targets = topology.ends()
    is_global = topology.link_classes() == net.class_names.index("global")
    a, b = sources[is_global] - topology.nodes, targets[is_global] - topology.nodes
    cables = Counter(zip(a.tolist(), b.tolist(), strict=True))
    assert cables == Counter(zip(b.tolist(), a.tolist(), strict=True))  # every link has its way back

    of_router = np.bincount(a, minlength=groups * routers)
    assert of_router.max() <= ports
    assert of_router.max() - of_router.min() <= 1
    unused = groups * routers * ports - len(a)
    left = routers * ports % (groups - 1)
    assert unused == (groups if left % 2 and groups % 2 else 0)
    assert bool(unused) == any("unused" in note for note in net.topology.notes())

    gang = np.zeros((groups, groups), int)
    np.add.at(gang, (a // routers, b // routers), 1)
    off = gang[~np.eye(groups, dtype=bool)]
    assert np.trace(gang) == 0
    assert off.max() - off.min() <= 1
    assert (off.max() > off.min()) == any("are not a multiple" in note for note in net.topology.notes())


@settings(max_examples=40)
@given(DRAGONFLIES, st.integers(1, 2), st.sampled_from(["minimal", "valiant"]))
def test_counting_by_class_equals_enumeration(shape: tuple[int, int, int], nodes: int, routing: str) -> None:
    groups, routers, ports = shape
    net = network("dragonfly", routing, groups=groups, routers=routers, nodes_per_router=nodes, global_links=ports)
    counted, listed = (solve(net, uniform(net), solver) for solver in ("class", "enumeration"))
    found = [{b.link_class: (b.links, pytest.approx(b.load)) for b in one.bottlenecks} for one in (counted, listed)]
    assert found[0] == found[1]


def test_ports_that_do_not_divide_are_named_wherever_an_answer_is_given() -> None:
    machine = load("dragonfly-example")
    at_17, at_18 = machine.at_size(17), machine.at_size(18)
    assert not at_17.topology.notes()
    (note,) = at_18.topology.notes()
    assert note.startswith("each group has 2 global links to each of 15 groups and 1 to each of the 2 others")
    assert note in solve(at_18, make(at_18, "uniform")).notes
    points = scale(machine, "uniform", [17, 18]).points
    assert [note in point.assumption for point in points] == [False, True]
    assert f"# note: {note}" in write(at_18, "edges")
    small = network("dragonfly", groups=3, routers=1, nodes_per_router=1, global_links=3)
    for form in ("edges", "graph", "simgrid"):
        assert "one global port of every group is unused" in write(small, form)
    assert parse(write(small, "graph"), "back").build().links - 3 * 3 == 2 * 3 + 2 * 3


def test_a_pair_with_more_links_is_no_bottleneck() -> None:
    """8 ports over 5 other groups: 1 link to two of them, 2 to three; the two set the pace of minimal routing."""
    net = network("dragonfly", groups=6, routers=4, nodes_per_router=1, global_links=2)
    answer = solve(net, uniform(net), "enumeration")
    kinds = net.build().link_classes()
    loads = answer.loads[kinds == net.class_names.index("global")]
    assert Counter(np.round(loads, 9).tolist()) == {round(16 / 24, 9): 6 * 2, round(8 / 24, 9): 6 * 6}


def test_blocks_that_leave_octants_idle_are_named() -> None:
    assert not network("two-level-direct", supernodes=8, drawers=1, octants=4, assignment="block").topology.notes()
    (note,) = network("two-level-direct", supernodes=9, drawers=1, octants=8, assignment="block").topology.notes()
    assert "leave 3 of 8 octants" in note
