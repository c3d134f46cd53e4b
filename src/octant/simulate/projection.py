"""Projection of the workloads of a run to more ranks and nodes, with the message times of the run.

A workload can be predicted if it declares a step and its scaling (`Workload.step`, `Workload.scaling`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from octant import workloads
from octant.analysis.summary import summarise
from octant.failure import Exit, Refusal
from octant.launch.link import parse_link
from octant.network.step_rates import MessagePath, rate
from octant.record import known_count
from octant.simulate.model_comparison import duplex_of, times_of

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.network.step_rates import StepRate
    from octant.step import Declared, Scaling
    from octant.store import StoredRun
    from octant.workload import Workload

HOW = (
    "octant study run hpcc-scaling, or octant run p2p --ranks 2 pattern=pingpong bytes=8,512,4KiB,32KiB,256KiB,2MiB, "
    "on an otherwise idle machine"
)
"""Commands that measure the required message times."""


@dataclass(frozen=True)
class MessagePaths:
    """Message times of a run: between ranks of one node, between hosts, and over emulated links."""

    inside: MessagePath | None
    between: Mapping[str, MessagePath]  # by the emulated link; "": hosts of a network

    def of(self, hosts: int, link: str) -> MessagePath | None:
        """Return the message times of a launch; `None`: not measured."""
        return self.inside if hosts < 2 else self.between.get(link)


def message_paths(run: StoredRun) -> MessagePaths:
    """Return the message times of a run by length, from `pingpong` and `duplex` of `p2p`."""
    names = {name for name, one in workloads.workloads().items() if one.duplex}
    kept = tuple(point for point in run.points if point.workload in names)
    if not kept:
        return MessagePaths(None, {})
    summary = summarise(replace(run, points=kept), all_metrics=True)

    def way(one_host: bool, link: str) -> MessagePath | None:
        found = times_of(summary, one_host, link)
        if not found:
            return None
        both = duplex_of(summary, one_host, link)
        where = "between ranks of one node" if one_host else f"over an emulated link of {link}" if link else ""
        times = found.get("hot") or next(iter(found.values()))
        most = parse_link(link).payload_bytes_per_s if link else math.inf
        return MessagePath(times, both.ratio if both else 1.0, where or "between hosts", most)

    links = dict.fromkeys(figure.link for figure in summary.figures)
    between = {link: one for link in ("", *links) if (one := way(False, link))}
    return MessagePaths(way(True, ""), between)


@dataclass(frozen=True)
class Predicted:
    """A workload that declares a step and its scaling."""

    workload: Workload
    step: Declared
    scaling: Scaling


def predicted(workload: Workload) -> Predicted | None:
    """Return the workload with its step and scaling; `None`: it does not declare both."""
    return Predicted(workload, workload.step, workload.scaling) if workload.step and workload.scaling else None


def rate_here(figure: Figure, alone_per_s: float, way: MessagePath) -> StepRate | None:
    """Return the rate of the problem of a figure if all ranks exchange messages, even within shared memory.

    Args:
        figure: a rate of several ranks.
        alone_per_s: rate of one rank, as for `octant.network.step_rates.rate`.
        way: message times between its ranks.

    Returns:
        `None`: the workload declares no step, or no scaling.

    Raises:
        KeyError, ValueError: the step is not defined for its knobs.
    """
    known, point = predicted(figure.workload), figure.point
    if known is None:
        return None
    ranks, threads = known_count(point.ranks), known_count(point.threads)
    own = known.step(point.knobs, ranks, threads)
    if not own.messages:
        own = known.step({**point.knobs, **known.scaling.apart[0]}, ranks, threads)
    return rate([own], figure.workload.counts_of(figure.metric.name), ranks, alone_per_s, way)


@dataclass(frozen=True)
class NodeRate:
    """Measured rate of all ranks of a node in one test."""

    test: str
    per_s: float
    size: float
    ranks: int
    unit: str
    figure: Figure = field(repr=False)


@dataclass(frozen=True)
class NodeProjection:
    """Predicted rate of a test on several such nodes: of all ranks, or of each rank for message tests."""

    test: str
    nodes: int
    unit: str
    rate: StepRate


@dataclass(frozen=True)
class ProjectedSystem:
    """Predictions for several nodes like that of a run, with a network that does not limit them."""

    run: str
    machine: str
    link: str  # where the message times were measured
    ranks: int  # maximum per node
    node: tuple[NodeRate, ...]
    answers: tuple[NodeProjection, ...]
    left_out: tuple[str, ...]  # tests without a figure of all ranks of a node
    assumptions: tuple[str, ...]
    titles: Mapping[str, str] = field(default_factory=dict, repr=False)  # of all tests


def project_to_nodes(run: StoredRun, nodes: Sequence[int], names: Iterable[str]) -> ProjectedSystem:
    """Predict workloads on several nodes like that of the run, with the same amount of data per node.

    Args:
        run: the measured run.
        nodes: numbers of nodes.
        names: workloads, in the order of the result; those that cannot be predicted are ignored.

    Raises:
        Refusal: the run has no message times.
    """
    ways = message_paths(run)
    way = next(iter(ways.between.values()), ways.inside)
    if way is None:
        known = {name for name, one in workloads.workloads().items() if one.duplex}
        few = "it has valid times for fewer than three message lengths; octant report states why"
        why = few if any(point.workload in known for point in run.points) else "it contains no message times"
        raise Refusal(f"cannot predict more nodes from run {run.id} ({why}); run {HOW}", Exit.WRONG_WORD)
    tests = _predicted(names)
    node = node_rates(run, tests)
    ranks = max((one.ranks for one in node.values()), default=1)
    there = [one for name, one in tests.items() if name in node or not one.workload.counts_of()]
    answers = [_on(one, node.get(one.workload.name), count, ranks, way) for one in there for count in nodes]
    missing = [one.scaling.name for one in tests.values() if one not in there]
    shared = f"; its {ranks} ranks share the link" if ranks > 1 else ""
    said = (
        "weak scaling: each node computes like the measured one, with the same amount of data",
        f"each node has one link to a network without further limits; message times as measured {way.measured}; both "
        f"directions at once take {way.duplex:.2f} times as long{shared}",
        "lower bound: computation, message start-up and transfer do not overlap; upper bound: complete overlap",
        *(one.scaling.note for one in tests.values() if one.scaling.note),
    )
    titles = {one.scaling.name: one.scaling.title for one in tests.values()}
    return ProjectedSystem(
        run.id,
        run.machine.name,
        way.measured,
        ranks,
        tuple(node.values()),
        tuple(answers),
        tuple(missing),
        said,
        titles,
    )


def _predicted(names: Iterable[str]) -> dict[str, Predicted]:
    known = workloads.workloads()
    found = {name: predicted(known[name]) for name in dict.fromkeys(names) if name in known}
    return {name: one for name, one in found.items() if one}


def _on(test: Predicted, node: NodeRate | None, count: int, ranks: int, way: MessagePath) -> NodeProjection:
    name, apart = test.scaling.name, test.scaling.apart
    if node is None:  # nothing is computed
        found = rate([test.step(knobs, 2, 1) for knobs in apart], (), 2, 0.0, way, ranks)
        return NodeProjection(name, count, "B/s", found)
    point, every = node.figure.point, node.ranks * count
    grown = test.scaling.grown(point.knobs, count)
    steps = [test.step({**grown, **knobs}, every, known_count(point.threads)) for knobs in apart]
    counts = test.workload.counts_of()
    return NodeProjection(name, count, node.unit, rate(steps, counts, every, node.per_s / node.ranks, way, node.ranks))


def node_rates(run: StoredRun, tests: Mapping[str, Predicted]) -> dict[str, NodeRate]:
    """Return the rate of each test by workload, for the largest number of ranks on one node and the largest size."""
    kept = tuple(point for point in run.points if point.workload in tests)
    found: dict[str, NodeRate] = {}
    for figure in summarise(replace(run, points=kept)).figures if kept else ():
        name = figure.workload.name
        try:
            one = _node_rate(tests[name], figure)
        except (KeyError, ValueError):  # a point of another version
            continue
        best = found.get(name)
        if one and (best is None or (one.ranks, one.size) > (best.ranks, best.size)):
            found[name] = one
    return {name: found[name] for name in tests if name in found}


def _node_rate(test: Predicted, figure: Figure) -> NodeRate | None:
    """Return the rate of a figure of a node; `None`: the figure is not suitable.

    It is not suitable if it is wrong, contains no computation, has another problem, or belongs to several nodes, or to
    ranks that work independently or share cores.
    """
    point, scaling = figure.point, test.scaling
    hosts = {given.host for given in point.given}
    alone = len(point.groups) > 1 or point.share_cores or figure.link or len(hosts) > 1
    other = any(figure.knobs.get(name, value) != value for name, value in scaling.only.items())
    if alone or other or figure.value is None or figure.invalid or not test.workload.counts_of():
        return None
    test.step(figure.knobs, known_count(point.ranks), known_count(point.threads))  # it has all knobs
    size, unit = scaling.size_of(figure.knobs), figure.metric.unit
    return NodeRate(scaling.name, figure.value.middle, size, known_count(point.ranks), unit, figure)
