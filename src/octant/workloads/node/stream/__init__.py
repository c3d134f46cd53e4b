"""Sustained memory bandwidth: McCalpin's four loops, and one that only reads."""

from octant import units
from octant.limit import Known, Limit, Provides
from octant.machine import Machine
from octant.metric import Metric, rate
from octant.record import Point
from octant.workload import Curve, Workload


def from_memory(machine: Machine, point: Point) -> bool:
    """Whether the arrays of all ranks are well beyond every cache."""
    return units.parse_bytes(point.knobs["bytes"]) * point.working_ranks >= 2 * machine.may_be_cached_bytes()


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """The best traffic that any loop of this run reached on these threads: memory's own peak is not visible.

    `None` for arrays that fit into caches, whose limit is another one.
    """
    best = known.best("memory traffic", point.hardware_threads)
    if best is None or not from_memory(machine, point):
        return None
    moved = point.count("bytes_read", "bytes_written", "bytes_allocated")
    return Limit(moved / best.value, "best memory traffic of this run, write-allocates counted")


WORKLOAD = Workload(
    summary="Sustained memory bandwidth: copy, scale, add and triad over arrays of doubles",
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
            rate("bytes_read", "bytes_written", "bytes_allocated"),
            note="write-allocates counted",
        ),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    provides=(Provides("memory traffic", "traffic", from_memory),),
    pictures=(Curve("bytes", marks="caches", along="footprint"),),
    smoke={"bytes": "384KiB"},
)
