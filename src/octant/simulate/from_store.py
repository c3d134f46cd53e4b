"""Calibration from the store: what a run's own measurements say of a network, as ranges."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from octant import units, workloads
from octant.analysis.figures import ceilings, doubts, figure
from octant.failure import Refusal
from octant.network.calibrate import Calibration, Measured, fit, known_classes
from octant.network.files import NetworkFile
from octant.network.solve import engine
from octant.network.traffic import RANDOM_ACCESS, Cost, Flows, Pattern, bulk
from octant.record import Point
from octant.simulate.kernels import chosen
from octant.stats import Interval, over_launches
from octant.store import StoredRun, open_store

_LONG_BYTES = 65536  # from here on a message's start-up is a small part of its time
_SHORT_BYTES = 8  # up to here it is all of it


@dataclass(frozen=True)
class Startup:
    """Time of the shortest message, L + 2o, and what it leaves for software at either end (LogGP's o)."""

    seconds: Interval
    file_latency_s: float  # of the links between them, as the network file has it
    overhead_s: tuple[float, float]  # where the file has no latency, from none to all of it


@dataclass(frozen=True)
class Evidence:
    """One rate that the run measured, and the traffic of the model that stands for it."""

    workload: str
    between: str
    launches: int
    rate_per_s: Interval
    relation: Literal["eq", "at_least", "at_most"]
    says: str
    pattern: Pattern = field(repr=False)
    at_most_per_s: float = float("inf")  # what else the run says of the class that carries it
    startup: Startup | None = None
    flags: tuple[str, ...] = ()  # what casts doubt on it


@dataclass(frozen=True)
class StoreCalibration:
    """What a run of the store says of a network."""

    network: str
    run: str
    machine: str
    evidence: tuple[Evidence, ...]
    fits: tuple[Calibration, ...]  # one each
    left_out: tuple[str, ...]  # what of the run says nothing, and why


class _NothingError(Exception):
    """Points say nothing of this network; the text is why."""


def _alone(network: NetworkFile, name: str, unit: str, cost: Cost, last: int) -> Pattern:
    """One unit from the first node to itself (`last` 0) or to the last (-1)."""
    ends = network.topology.active()[[0, last]]
    flow = Flows(ends[:1].copy(), ends[1:].copy(), np.ones(1))
    return Pattern(name, unit, cost, np.unique(ends), flow, per="flow")


def _pingpong(network: NetworkFile, points: Sequence[Point], run: StoredRun) -> Evidence:
    """One message at a time: the longest show bytes a second, the shortest the start-up.

    Rotating buffers, where the run has them, are what a program's messages are; hot ones may stay in a cache.
    """
    one_node = points[0].given[0].host == points[0].given[-1].host
    if one_node and network.endpoint.to_itself != "memory":
        raise _NothingError(f"{network.name} has no links within a node (to_itself = {network.endpoint.to_itself!r})")
    if not one_node and len(network.topology.active()) < 2:
        raise _NothingError(f"{network.name} has a single node")
    pattern = _alone(network, "pingpong", "B", bulk(network), 0 if one_node else -1)
    rotating = [p for p in points if p.knobs.get("buffers") == "rotating" and _length(p) >= _LONG_BYTES]
    candidates = rotating or [p for p in points if _length(p) >= _LONG_BYTES]
    if not candidates:
        raise _NothingError(f"no message is as long as {units.bytes_text(_LONG_BYTES)}")
    longest, shortest = max(map(_length, candidates)), min(map(_length, points))
    used = [p for p in candidates if _length(p) == longest]
    whole = over_launches([figure(workloads.workload("mpi/pingpong"), p, metric="time").value for p in used])
    start = Interval(0.0, 0.0, 0.0)
    if shortest <= _SHORT_BYTES:
        short = [p for p in points if _length(p) == shortest]
        start = over_launches([figure(workloads.workload("mpi/pingpong"), p, metric="time").value for p in short])
    if start.high >= whole.low:
        raise _NothingError("the longest messages take no longer than the shortest")
    # At the low end the start-up counts as the wire's.
    times = whole.high, whole.middle - start.middle, whole.low - start.high
    rate = Interval(*(longest / seconds for seconds in times))
    best = max(ceilings(run.points, run.machine, workloads.workloads()).memory_bytes_per_s.values(), default=np.inf) / 2
    return Evidence(
        workload="mpi/pingpong",
        between="ranks of one node" if one_node else "nodes, taken for the first and the last of the file",
        launches=len({p.launch for p in used}),
        rate_per_s=rate,
        relation="at_least",
        says=f"messages of {units.bytes_text(longest)}, {'rotating' if rotating else 'hot'} buffers, one at a time",
        pattern=pattern,
        at_most_per_s=best if one_node and rotating and best > rate.high else float("inf"),
        startup=_startup(network, pattern, start) if start.middle else None,
        flags=_doubts(used),
    )


def _length(point: Point) -> float:
    """Bytes of one message."""
    return point.work.message_bytes / point.work.messages


def _startup(network: NetworkFile, pattern: Pattern, seconds: Interval) -> Startup:
    latency_s = sum(part * network.link_class(name).latency for name, part in _shares(network, pattern))
    low, high = (max(0.0, end - latency_s) / 2 for end in (seconds.low, seconds.high))
    return Startup(seconds, latency_s, (low if latency_s else 0.0, high))


def _shares(network: NetworkFile, pattern: Pattern) -> list[tuple[str, float]]:
    """Class of every link that the one flow uses, and the part of it that it carries."""
    topology, flows = network.build(), pattern.flows
    ends = (int(flows.sources[0]), int(flows.targets[0])) if flows is not None else (0, 0)
    found = engine(network, topology).shares(*ends)
    return [(network.class_names[topology.class_of(link)], part) for link, part in found]


def _randomaccess(network: NetworkFile, points: Sequence[Point], run: StoredRun) -> Evidence:
    """Updates of a node's own memory by all of its cores: no messages make it apply more than those."""
    if network.endpoint.to_itself == "free":
        raise _NothingError(f"{network.name} counts nothing for a node's own traffic (to_itself = 'free')")
    cores = len({cpu.core for cpu in run.machine.topology.cpus})
    beyond = 2 * run.machine.may_be_cached_bytes()
    whole = [
        p for p in points
        if p.ranks * p.threads >= cores and p.ranks * p.threads * int(p.notes["table_bytes"]) >= beyond
    ]  # fmt: skip
    if not whole:
        least = units.bytes_text(beyond)
        raise _NothingError(f"a node's memory needs all {cores} cores and a table of {least}, twice its caches")
    rates = [figure(workloads.workload("node/randomaccess"), p).value for p in whole]
    rate = max(rates, key=lambda one: one.middle)
    return Evidence(
        workload="node/randomaccess",
        between="a node and itself",
        launches=len({p.launch for p in whole}),
        rate_per_s=rate,
        relation="at_most",
        says="updates of its own memory, every core",
        pattern=_alone(network, "randomaccess", "update", RANDOM_ACCESS, 0),
        flags=_doubts(whole),
    )


def _doubts(points: Sequence[Point]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(flag for point in points for flag in doubts(point)))


SOURCES: dict[str, Callable[[NetworkFile, Sequence[Point], StoredRun], Evidence]] = {
    "mpi/pingpong": _pingpong,
    "node/randomaccess": _randomaccess,
}
"""What reads each workload: its points between the same nodes become the rate of a pattern."""


def from_store(network: NetworkFile, run: StoredRun, kernel: str = "", free: Sequence[str] = ()) -> StoreCalibration:
    """Capacities and start-up times of a network from what a run measured.

    `kernel` keeps only points of a workload with such knobs (`pingpong buffers=hot`); `free` names the classes to fit,
    all that carry the measured traffic where empty.

    Raises:
        Refusal: the run holds nothing usable, with the reason for each of its workloads that might have been.
    """
    known_classes(network, free)
    groups: dict[tuple[str, bool], list[Point]] = {}
    left_out = []
    for point in (point for row in chosen(run, kernel) for point in row.points):
        if point.workload not in SOURCES:
            continue
        if why := _unfit(point):
            left_out.append(f"{point.workload}: {why}")
        else:
            groups.setdefault((point.workload, point.given[0].host == point.given[-1].host), []).append(point)
    evidence, fits = [], []
    for (workload, _), points in groups.items():
        try:
            found = SOURCES[workload](network, points, run)
            fits.append(_fitted(network, found, free))
            evidence.append(found)
        except _NothingError as silent:
            left_out.append(f"{workload}: {silent}")
    left_out = list(dict.fromkeys(left_out))
    if not evidence:
        have = ", ".join(sorted({point.workload for point in run.points})) or "nothing"
        why = "; ".join(left_out) or f"it holds {have}"
        try_this = f"try octant run {' or '.join(SOURCES)}, or --points"
        raise Refusal(f"cannot calibrate {network.name} from run {run.id} ({why}); {try_this}")
    return StoreCalibration(network.name, run.id, run.machine.name, tuple(evidence), tuple(fits), tuple(left_out))


def _unfit(point: Point) -> str:
    if not point.verdict.passed:
        return "its answer is wrong"
    if point.build.get("faults_compiled"):
        return "a build that injects faults"
    return "more threads than hardware threads" if point.share_cores else ""


def _fitted(network: NetworkFile, found: Evidence, free: Sequence[str]) -> Calibration:
    used = ["endpoint" if name in ("injection", "ejection") else name for name, _ in _shares(network, found.pattern)]
    wanted = set(free or used) | ({"endpoint"} if {"injection", "ejection"} & set(free) else set())
    if not wanted & set(used):
        raise _NothingError(f"it loads {', '.join(dict.fromkeys(used))}, which --free leaves out")
    # What passed showed every class on its way to be as fast, whatever the file says of the others.
    among = [name for name in dict.fromkeys(used) if found.relation != "eq" or name in wanted]
    rate = found.rate_per_s
    edge = rate.high if found.relation == "at_most" else rate.low
    tolerance = max(abs(edge / rate.middle - 1), 1e-6)
    done = fit(found.workload, [(network, found.pattern)], [Measured(1, rate.middle, tolerance, found.relation)], among)
    bounded = (replace(p, high=min(p.high, found.at_most_per_s)) for p in done.parameters)
    return replace(done, parameters=tuple(p for p in bounded if p.link_class in wanted))


def calibration(
    network: NetworkFile, run: str, kernel: str, free: Sequence[str], store: Path | None
) -> StoreCalibration:
    """A calibration from words: a run of the store by name."""
    return from_store(network, open_store(store).find(run), kernel, free)
