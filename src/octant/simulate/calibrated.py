"""What a stored run says of its own messages, and what HPC Challenge's tests would then do on more ranks and nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octant import units, workloads
from octant.analysis.summary import summarise
from octant.benchmarks.table import read_tests
from octant.failure import Exit, Refusal
from octant.launch.link import parse_link
from octant.network.hpcc import TESTS, Test, Way, grown, rate
from octant.simulate.beside import duplex_of, times_of

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.network.hpcc import Rate
    from octant.store import StoredRun

HOW = (
    "octant study run hpcc-scaling, or octant run p2p --ranks 2 pattern=pingpong bytes=8,512,4KiB,32KiB,256KiB,2MiB, "
    "while the machine does nothing else"
)
"""What measures messages as they are needed here."""
_TESTS: Mapping[str, Test] = {"HPL": "hpl", "PTRANS": "ptrans", "MPIRandomAccess": "randomaccess", "MPIFFT": "gfft"}
"""By the name of HPC Challenge's test, whose workload the catalogue says."""
_WORD_BYTES = 8


@dataclass(frozen=True)
class Ways:
    """Messages as a run measured them: between ranks of one node, between hosts, and over emulated links."""

    inside: Way | None
    between: Mapping[str, Way]  # by the emulated link; "": hosts of a network

    def of(self, hosts: int, link: str) -> Way | None:
        """What ranks of a launch have for their messages; `None`: not measured."""
        return self.inside if hosts < 2 else self.between.get(link)


def ways_of(run: StoredRun) -> Ways:
    """The times of messages of a run, by their length, from `p2p`'s `pingpong` and `duplex`."""
    names = {name for name, one in workloads.workloads().items() if one.duplex}
    kept = tuple(point for point in run.points if point.workload in names)
    if not kept:
        return Ways(None, {})
    summary = summarise(replace(run, points=kept), all_metrics=True)

    def way(one_host: bool, link: str) -> Way | None:
        found = times_of(summary, one_host, link)
        if not found:
            return None
        both = duplex_of(summary, one_host, link)
        where = "between ranks of one node" if one_host else f"over an emulated link of {link}" if link else ""
        times = found.get("hot") or next(iter(found.values()))
        most = parse_link(link).payload_bytes_per_s if link else math.inf
        return Way(times, both.ratio if both else 1.0, where or "between hosts", most)

    links = dict.fromkeys(figure.link for figure in summary.figures)
    between = {link: one for link in ("", *links) if (one := way(False, link))}
    return Ways(way(True, ""), between)


def size_of(test: Test, knobs: Mapping[str, str]) -> float:
    """The size of a test of all ranks, as `octant.network.hpcc.work` takes it.

    Raises:
        KeyError, ValueError: the knobs do not say it.
    """
    if test == "randomaccess":
        return units.parse_bytes(knobs["bytes"]) / _WORD_BYTES * units.parse_real(knobs.get("updates", "4"))
    return units.parse_real(knobs["n"]) if test != "random-ring" else 0.0


@dataclass(frozen=True)
class NodeRate:
    """What a node of the run did in a test, its ranks together."""

    test: Test
    per_s: float
    size: float
    ranks: int
    unit: str


@dataclass(frozen=True)
class OnNodes:
    """A test on so many such nodes: the rate of all (of a ring: of each rank)."""

    test: Test
    nodes: int
    unit: str
    rate: Rate


@dataclass(frozen=True)
class Larger:
    """What many nodes like that of a run would do, joined by a network without a limit of its own."""

    run: str
    machine: str
    link: str  # how messages between nodes were measured
    ranks: int  # of a node, at most
    node: tuple[NodeRate, ...]
    answers: tuple[OnNodes, ...]
    left_out: tuple[Test, ...]  # of which the run has no figure of all ranks of a node
    assumptions: tuple[str, ...]


def on_nodes(run: StoredRun, nodes: Sequence[int]) -> Larger:
    """HPC Challenge's tests on so many nodes like that of the run, each with as much data as there.

    Raises:
        Refusal: the run has no messages.
    """
    ways = ways_of(run)
    way = next(iter(ways.between.values()), ways.inside)
    if way is None:
        names = {name for name, one in workloads.workloads().items() if one.duplex}
        few = "fewer than three lengths of its messages are measurable; octant report says why"
        why = few if any(point.workload in names for point in run.points) else "it measured no messages"
        raise Refusal(f"cannot say what {run.id} would do on more nodes ({why}); try {HOW}", Exit.WRONG_WORD)
    node = node_rates(run)
    ranks = max((one.ranks for one in node.values()), default=1)
    answers = [
        OnNodes(
            test, count, "B/s" if test == "random-ring" else node[test].unit, _on(node.get(test), count, ranks, way)
        )
        for test in TESTS
        if test in node or test == "random-ring"
        for count in nodes
    ]
    missing = [test for test in TESTS if test not in node and test != "random-ring"]
    shared = f"; its {ranks} ranks share the link" if ranks > 1 else ""
    said = (
        "each node computes as the one that was measured, with as much data (weak scaling)",
        f"each has one link to a network that limits nothing: a message takes what it took {way.measured}, both "
        f"directions at once {way.duplex:.2f} times as long{shared}",
        "the low end: computing, starts of messages and their bytes follow one another; the high end: all at once",
        "RandomAccess by the quicker of direct messages and a hypercube, 1,024 updates ahead at most",
    )
    return Larger(
        run.id, run.machine.name, way.measured, ranks, tuple(node.values()), tuple(answers), tuple(missing), said
    )


def _on(node: NodeRate | None, count: int, ranks: int, way: Way) -> Rate:
    if node is None:  # a ring
        return rate("random-ring", 0.0, 2, 0.0, way, ranks)
    size, every = grown(node.test, node.size, count), node.ranks * count
    return rate(node.test, size, every, node.per_s / node.ranks, way, node.ranks, default=False)


def node_rates(run: StoredRun) -> dict[Test, NodeRate]:
    """The rate of each test with the most ranks on one node and, of these, the most data."""
    tests = {one.workload: _TESTS[one.name] for one in read_tests("hpcc") if one.name in _TESTS}
    kept = tuple(point for point in run.points if point.workload in tests)
    found: dict[Test, NodeRate] = {}
    for figure in summarise(replace(run, points=kept)).figures if kept else ():
        test = tests[figure.workload.name]
        try:
            one = _node_rate(test, figure)
        except (KeyError, ValueError):  # of a point of another version
            continue
        best = found.get(test)
        if one and (best is None or (one.ranks, one.size) > (best.ranks, best.size)):
            found[test] = one
    return found


def _node_rate(test: Test, figure: Figure) -> NodeRate | None:
    """`None`: of several nodes, of ranks that work alone or share cores, wrong, or of the other sequence."""
    point = figure.point
    hosts = {given.host for given in point.given}
    alone = len(point.groups) > 1 or point.share_cores or figure.link or len(hosts) > 1
    if alone or figure.value is None or figure.invalid or figure.knobs.get("sequence", "polynomial") != "polynomial":
        return None
    size = size_of(test, figure.knobs)
    return NodeRate(test, figure.value.middle, size, point.ranks, figure.metric.unit)
