"""The time of one load that depends on the one before it, from the first cache to memory."""

from octant import units
from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, per
from octant.record import Point
from octant.workload import Ladder, Workload

LEAST_CYCLES = 4  # load to use from the first cache; no core in scope is quicker


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Within the first cache: four cycles. Beyond it no number is both general and honest, so there is none."""
    first, clock_hz = machine.cache_bytes(1), known.clock_hz
    if clock_hz is None or first is None or units.parse_bytes(point.knobs["bytes"]) > first:
        return None
    loads = point.count("loads") / point.lanes
    return Limit(loads * LEAST_CYCLES / clock_hz, f"{LEAST_CYCLES} cycles at {clock_hz / 1e9:.2f} GHz (measured)")


WORKLOAD = Workload(
    summary="Dependent loads through a random cycle, from the first cache to memory, with each page size",
    metrics=(Metric("latency", "s", "lower", per("loads"), note="one load, from address to value"),),
    least_seconds=_least_seconds,
    pictures=(Ladder(),),
    smoke={"bytes": "64KiB"},
)
