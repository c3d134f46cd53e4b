"""Sustained memory bandwidth: McCalpin's four loops and others of their kind, and reads in other orders."""

import math

import numpy as np

from octant import units
from octant.limit import LEVELS, Known, Level, Limit, Provides, level_of, traffic_in
from octant.machine import Machine
from octant.metric import Metric, custom, rate
from octant.record import Point, Samples, known_count
from octant.workload import Ladder, Workload, beyond_caches
from octant.workloads.node.stream.step import step


def from_memory(machine: Machine, point: Point) -> bool:
    """Whether the arrays of all ranks are well beyond every cache."""
    return footprint(machine, point) >= 2 * machine.may_be_cached_bytes()


def footprint(_machine: Machine, point: Point) -> int:
    """The arrays of all ranks."""
    return units.parse_bytes(point.knobs["bytes"]) * known_count(point.working_ranks)


WHOLE = ("contiguous", "streams")
"""Patterns that use all of each line, once."""
MOST_ALLOCATED = 1 / 4
"""Of what a figure counts, so that it is a limit of others: triad's share. Some processors leave these reads out."""
MOVED = ("bytes_read", "bytes_written", "bytes_allocated", "bytes_unused")
"""What the source reads and writes, lines that are read before they are written, and parts of lines without use."""


def _uses_whole_lines(point: Point) -> bool:
    """Whether each thread moves every byte of its own part once in a pass."""
    return point.knobs.get("pattern", WHOLE[0]) in WHOLE and point.knobs.get("data", "private") == "private"


def _in(level: Level) -> Provides:
    """The first cache holds the lines that are written already: nothing moves to read them first."""
    metric = "bandwidth" if level == LEVELS[0] else "traffic"

    def holds(machine: Machine, point: Point) -> bool:
        lies_in = level_of(machine, point.hardware_threads, footprint(machine, point))
        known = level == LEVELS[0] or point.count("bytes_allocated") <= MOST_ALLOCATED * point.count(*MOVED)
        return _uses_whole_lines(point) and lies_in == level and known

    return Provides(traffic_in(level), metric, holds)


def _best_pass(point: Point, samples: Samples) -> float:
    """B/s of all lanes if each took as long as the quickest pass of any of them over its arrays.

    A pass is so many samples in a row as cover the arrays; nothing where fewer were kept, or a pass is another one.
    """
    if not _uses_whole_lines(point):
        return math.nan
    lanes = [one.values[point.warmup :] for one in samples.series if one.head.name == "step"]
    once = point.count("bytes_read", "bytes_written") * point.batch / max(1, point.lanes)  # of a lane's sample
    if not lanes or not once:
        return math.nan
    each = units.parse_bytes(point.knobs["bytes"]) / known_count(point.threads)
    samples_of_pass = math.ceil(each / once * (1 - 1e-3))
    of_passes = [np.convolve(ns, np.ones(samples_of_pass), "valid") for ns in lanes if len(ns) >= samples_of_pass]
    if not of_passes:
        return math.nan
    least_s = min(float(ns.min()) for ns in of_passes) * 1e-9
    return len(lanes) * samples_of_pass * once / least_s


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """The best traffic that any loop of this run reached on these threads: memory's own peak is not visible.

    `None` for arrays that fit into caches, whose limit is another one.
    """
    best = known.best("memory traffic", point.hardware_threads)
    if best is None or not from_memory(machine, point):
        return None
    moved = point.count(*MOVED)
    return Limit(moved / best.value, "best memory traffic of this run, write-allocates counted")


WORKLOAD = Workload(
    summary="Sustained memory bandwidth: copy, scale, add, triad and others over arrays of doubles, in several orders",
    metrics=(
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            rate("bytes_read", "bytes_written"),
            note="bytes that the source reads and writes",
        ),
        Metric(
            "traffic",
            "B/s",
            "higher",
            rate(*MOVED),
            note="write-allocates and whole lines counted",
        ),
        Metric(
            "HPCC bandwidth",
            "B/s",
            "higher",
            custom(_best_pass),
            note="the quickest pass of any rank over its arrays, for all ranks, as HPC Challenge takes it",
        ),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    provides=tuple(map(_in, LEVELS)),
    pictures=(Ladder(),),
    footprint=footprint,
    step=step,
    smoke={"pattern": "contiguous,strided,gather,streams,transposed", "bytes": "384KiB"},
    sizes={"bytes": beyond_caches},
)
