"""Sustained memory bandwidth: STREAM loops, similar loops, and other access patterns."""

import math
from collections.abc import Mapping

import numpy as np

from octant import units
from octant.facts import numbers, value
from octant.limit import LEVELS, MEMORY, Known, Level, Limit, LimitRequest, Provides, level_of, traffic_in
from octant.machine import Machine
from octant.metric import Metric, custom, rate
from octant.record import Point, Samples, known_count
from octant.workload import Ladder, Workload, beyond_caches
from octant.workloads.node.stream.step import step


def from_memory(machine: Machine, point: Point) -> bool:
    """Return whether the arrays are at least twice as large as all caches."""
    return footprint(machine, point) >= 2 * machine.may_be_cached_bytes()


def footprint(_machine: Machine, point: Point) -> int:
    """Return the bytes of the arrays of all ranks."""
    return units.parse_bytes(point.knobs["bytes"]) * known_count(point.working_ranks)


WHOLE = ("contiguous", "streams")
"""Patterns that use each cache line completely, once."""
MAX_ALLOCATED = 1 / 4
"""Largest share of write-allocates in a figure that is a limit for others (that of triad); some CPUs avoid them."""
MOVED = ("bytes_read", "bytes_written", "bytes_allocated", "bytes_unused")
"""Bytes that the source reads and writes, write-allocates, and unused parts of cache lines."""
_LIMIT_BYTES = 128 << 20
"""Smallest footprint of a measurement of memory traffic for other runs."""


def _uses_whole_lines(point: Point) -> bool:
    """Return whether each thread moves each byte of its part once per pass."""
    return point.knobs.get("pattern", WHOLE[0]) in WHOLE and point.knobs.get("data", "private") == "private"


def _in(level: Level) -> Provides:
    """Return the limit of a memory level; in the first-level cache there are no write-allocates."""
    metric = "bandwidth" if level == LEVELS[0] else "traffic"

    def holds(machine: Machine, point: Point) -> bool:
        lies_in = level_of(machine, point.hardware_threads, footprint(machine, point))
        known = level == LEVELS[0] or point.count("bytes_allocated") <= MAX_ALLOCATED * point.count(*MOVED)
        return _uses_whole_lines(point) and lies_in == level and known

    measured_by = LimitRequest(_limit_knobs, "memory bandwidth") if level == MEMORY else None
    return Provides(traffic_in(level), metric, holds, setting=("store", "pages"), measured_by=measured_by)


def _limit_knobs(machine: Machine, _knobs: Mapping[str, str], ranks: int) -> Mapping[str, str]:
    """Return the loop with both kinds of stores on huge pages where the system grants them; they are the fastest."""
    known = {**numbers(machine), "ranks": ranks}
    least = f"2*cached/ranks at least {_LIMIT_BYTES // ranks} at most memory/8"
    return {"kernel": "triad", "store": "plain,streaming", "bytes": value(least, known), "pages": "try-thp"}


def _best_pass(point: Point, samples: Samples) -> float:
    """Return the bandwidth of all lanes, B/s, from the fastest pass of any lane over its arrays.

    A pass is the number of consecutive samples that cover the arrays. NaN if fewer samples were stored.
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
    """Return the time at the highest memory traffic on these threads, over all page sizes and kinds of stores.

    Return `None` for arrays that fit into caches. The nominal peak of the memory is not visible to software.
    """
    best = known.best("memory traffic", point.hardware_threads)
    if best is None or not from_memory(machine, point):
        return None
    moved = point.count(*MOVED)
    return Limit(moved / best.value, f"highest memory traffic {best.where}, including write-allocates")


WORKLOAD = Workload(
    summary="Sustained memory bandwidth: STREAM loops and others over arrays of doubles, several access patterns",
    metrics=(
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            rate("bytes_read", "bytes_written"),
            note="bytes that the source code reads and writes",
        ),
        Metric(
            "traffic",
            "B/s",
            "higher",
            rate(*MOVED),
            note="including write-allocates and whole cache lines",
        ),
        Metric(
            "HPCC bandwidth",
            "B/s",
            "higher",
            custom(_best_pass),
            note="fastest pass of any rank, scaled to all ranks (as HPC Challenge)",
        ),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    provides=tuple(map(_in, LEVELS)),
    pictures=(Ladder(),),
    footprint=footprint,
    step=step,
    aliases={
        "copy": {"kernel": "copy"},
        "scale": {"kernel": "scale"},
        "add": {"kernel": "add"},
        "triad": {"kernel": "triad"},
        "bandwidth": {},
        "membw": {},
        "bw_mem": {"kernel": "load"},
        "memcpy": {"kernel": "copy", "store": "libc"},
    },
    smoke={"pattern": "contiguous,strided,gather,streams,transposed", "bytes": "384KiB"},
    sizes={"bytes": beyond_caches},
)
