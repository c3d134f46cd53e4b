"""The engine's constructors refuse what they cannot hold, in every call, and count as Python counts."""

import math

import numpy as np
import pytest

from networks import CLASSES, network
from octant import _network
from octant.network import load, names
from octant.network.files import NetworkFile
from octant.network.solve import engine
from octant.network.topologies import KINDS

NAN, INF = math.nan, math.inf
INT_MAX, INT_MIN = 2**31 - 1, -(2**31)
ODD = (0, -1, 46341, 65536, 2**20, 2**20 + 1, INT_MAX, INT_MIN)


def rows(fabric: int, **change: float) -> list[tuple[str, float, float, int]]:
    latency = int(change.get("latency", 0))
    return [("x", change.get("bytes_per_s", 1e9), change.get("packets_per_s", INF), latency)] * (3 + fabric)


def built(kind: str, *numbers: object, classes: list[tuple[str, float, float, int]] | None = None) -> _network.Topology:
    make = getattr(_network, kind.replace("two-level-direct", "two_level").replace("-", "_"))
    return make(*numbers, rows(len(CLASSES[kind])) if classes is None else classes, "memory")  # type: ignore[no-any-return]


SMALL: dict[str, tuple[object, ...]] = {
    "two-level-direct": (2, 2, 2, 1, True, False, 16, []),
    "torus": ([2, 3], [True, False]),
    "fat-tree": (2, [2, 3], [2]),
    "dragonfly": (3, 2, 2, 1),
    "hyperx": ([2, 3], 2),
}


@pytest.mark.parametrize("kind", SMALL)
def test_any_number_builds_or_is_refused(kind: str) -> None:
    """Each single argument is far too large, negative or zero; one and two of the engine's own limits are exceeded."""
    for place, good in enumerate(SMALL[kind]):
        if isinstance(good, bool) or (isinstance(good, list) and True in good):
            continue
        for odd in ODD:
            for bad in [[odd], [odd, odd], [odd, good[-1]], [odd] * 9] if isinstance(good, list) and good else [odd]:
                numbers = [*SMALL[kind][:place], [odd] if good == [] else bad, *SMALL[kind][place + 1 :]]
                try:
                    made = built(kind, *numbers)
                except ValueError as error:
                    assert str(error).startswith("cannot ")  # noqa: PT017 - either is right
                else:
                    assert 0 < made.nodes <= _network.MOST_NODES
                    assert made.nodes <= made.vertices <= _network.MOST_VERTICES
                    assert 3 * made.nodes <= made.links <= _network.MOST_LINKS
                    assert made.name(made.links - 1)


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        ("hyperx", ([2**20], 1)),
        ("dragonfly", (2, 46341, 1, 1)),
        ("dragonfly", (2, 32, 1, 2**20)),
        ("fat-tree", (1, [2, 2, 2], [2**20, 2**20])),
        ("hyperx", ([50000], 1)),
        ("torus", ([2**20, 2**20], [True, True])),
        ("torus", ([2] * 20, [True] * 20)),
        ("torus", ([2, 2], [True])),
        ("two-level-direct", (2**20, 4, 8, 2, True, False, 16, [])),
        ("two-level-direct", (2, 2, 2, 1, True, False, 16, [4])),
        ("two-level-direct", (2, 2, 2, 1, True, False, 16, [-1])),
        ("two-level-direct", (2, 2, 2, 1, True, False, 16, [0, 1, 2, 3])),
        ("two-level-direct", (1, 1, 1, 1, True, False, 16, [])),
        ("fat-tree", (1, [2, 2], [])),
    ],
)
def test_what_crashed_is_refused(kind: str, numbers: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="cannot "):
        built(kind, *numbers)


@pytest.mark.parametrize("kind", SMALL)
def test_link_classes_must_be_those_of_the_shape(kind: str) -> None:
    count = len(CLASSES[kind])
    bad = [
        *(rows(n) for n in range(-3, 8) if n != count),
        *(rows(count, bytes_per_s=rate) for rate in (NAN, 0.0, -1.0)),
        *(rows(count, packets_per_s=rate) for rate in (NAN, 0.0, -INF)),
        *(rows(count, latency=latency) for latency in (-1, 10**12 + 1, 2**62)),
    ]
    for classes in bad:
        with pytest.raises(ValueError, match="cannot build"):
            built(kind, *SMALL[kind], classes=classes)


def test_a_graph_is_checked_link_by_link() -> None:
    def graph(nodes: int, vertices: int, a: list[int], b: list[int], kind: list[int], classes: int = 1) -> None:
        ends = np.array(a, np.int32), np.array(b, np.int32)
        _network.graph(nodes, vertices, *ends, np.array(kind, np.int32), False, rows(classes), "memory")

    graph(2, 3, [0, 2], [2, 1], [0, 0])
    for numbers in (
        (2, 3, [0], [2, 1], [0, 0]), (2, 3, [0], [2], []), (2, 3, [0], [3], [0]), (2, 3, [-1], [1], [0]),
        (2, 3, [0], [0], [0]), (2, 3, [0], [1], [1]), (2, 3, [0], [1], [-1]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="cannot "):
            graph(*numbers)
    for nodes, vertices in ((0, 3), (4, 3), (2**20 + 1, INT_MAX), (2, INT_MAX), (-1, 3)):
        with pytest.raises(ValueError, match="cannot "):
            graph(nodes, vertices, [], [], [])
    for classes in (0, 300):
        with pytest.raises(ValueError, match="cannot "):
            graph(2, 3, [0], [1], [0], classes)


def test_numbers_beyond_the_network_name_nothing() -> None:
    topology = built("torus", *SMALL["torus"])
    for odd in (-1, topology.links, INT_MAX, INT_MIN):
        for request in (topology.class_of, topology.name, topology.node_name, topology.entry):
            with pytest.raises(ValueError, match="cannot name"):
                request(odd)
        with pytest.raises(ValueError, match="cannot name"):
            topology.relation(0, odd)
    with pytest.raises(TypeError):
        topology.name(2**40)


def test_an_engine_is_asked_about_its_own_network_only() -> None:
    small, large = network("torus", sizes=[4]), network("torus", sizes=[8])
    asked, other = (engine(net, net.build()) for net in (small, large))
    cost = _network.UnitCost(1, 1, 1)
    flow = _network.Traffic.flows(np.array([0], np.int32), np.array([1], np.int32), np.ones(1), np.empty(0, np.uint16))
    far = _network.Traffic.flows(np.array([0], np.int32), np.array([9], np.int32), np.ones(1), np.empty(0, np.uint16))
    for refused in (
        lambda: asked.shares(0, 4), lambda: asked.path(-1, 0, 0), lambda: asked.causes(flow, 10**6),
        lambda: asked.causes(far, 0), lambda: asked.adaptive(other, flow, cost, 1),
        lambda: asked.closed_queue(other.enumerate(flow, cost), cost, 1, 1),
        lambda: asked.fail_at_random(flow, cost, [10**6], 1, 0.0, 1, 1),
        lambda: asked.sweep(flow, cost, [-1], 0.0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="cannot "):
            refused()
    for left in (NAN, INF, -1.0, 1.5):
        with pytest.raises(ValueError, match="of a link"):
            engine_with(small, left)


def engine_with(net: NetworkFile, left: float) -> _network.Network:
    topology = net.build()
    return _network.Network(topology, "dimension-ordered", "stall", {}, [], np.full(topology.links, left))


@pytest.mark.parametrize(
    "make", [lambda n: _network.ring(n, 1), _network.bisection, lambda n: _network.halo([n, n], True)]
)
@pytest.mark.parametrize("ranks", [0, -1, INT_MAX])
def test_patterns_of_no_or_too_many_ranks_are_refused(make: object, ranks: int) -> None:
    with pytest.raises(ValueError, match="cannot "):
        make(ranks)  # type: ignore[operator]


def test_shortest_paths_longer_than_a_hop_counter_are_refused() -> None:
    count = 70_000
    a = np.arange(count - 1, dtype=np.int32)
    ends = np.concatenate([a, a + 1]), np.concatenate([a + 1, a])
    # hosts 0 and 1 at either end of a chain of switches
    line = np.concatenate([[0], np.arange(2, count), [1]]).astype(np.int32)
    topology = _network.graph(
        2, count, line[ends[0]], line[ends[1]], np.zeros(2 * count - 2, np.int32), False, rows(1), "memory"
    )
    with pytest.raises(ValueError, match="65535"):
        _network.Network(topology, "ecmp", "stall", {}, [], np.empty(0))


SHAPES = [
    network("two-level-direct", supernodes=5, drawers=3, octants=4, hosts="supernode", links_per_host=3),
    network("two-level-direct", supernodes=9, drawers=2, octants=4),
    network("torus", sizes=[4, 3, 1], wraps=[True, False, True]),
    network("fat-tree", planes=3, down=[4, 3, 2], up=[2, 5]),
    network("dragonfly", groups=6, routers=3, nodes_per_router=2, global_links=3),
    network("dragonfly", groups=7, routers=3, nodes_per_router=2, global_links=3),
    network("hyperx", sizes=[3, 4], nodes_per_router=2),
    network("graph", edges="n1 s1\nn2 s1\ns1 s2\n", hosts="n"),
    *(load(name) for name in names()),
]


@pytest.mark.parametrize("net", SHAPES, ids=lambda net: net.topology.kind)
def test_files_and_engine_count_alike(net: NetworkFile) -> None:
    shape, topology = net.topology, net.build()
    assert shape.nodes() == topology.nodes
    assert shape.nodes() + shape.switches() == topology.vertices
    assert 3 * shape.nodes() + shape.fabric_links() == topology.links
    assert KINDS[shape.kind] is type(shape)
