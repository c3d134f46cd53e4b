"""The time of one load that depends on the one before it, from the first cache to memory."""

from octant import units
from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, derived, first_of, per, rate, result
from octant.record import Point
from octant.workload import Curve, Ladder, Workload
from octant.workloads.node.latency.step import step

LEAST_CYCLES = 4  # load to use from the first cache; no core in scope is quicker


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Within the first cache: four cycles. Beyond it no number is both general and honest, so there is none."""
    first, clock_hz = machine.cache_bytes(1), known.clock_hz
    if point.knobs.get("pattern", "lines") != "lines" or clock_hz is None or first is None:
        return None
    if units.parse_bytes(point.knobs["bytes"]) > first:
        return None
    loads = point.count("loads") / point.lanes
    return Limit(loads * LEAST_CYCLES / clock_hz, f"{LEAST_CYCLES} cycles at {clock_hz / 1e9:.2f} GHz (measured)")


WORKLOAD = Workload(
    summary="Dependent loads through a random cycle, from the first cache to memory, with each page size",
    metrics=(
        Metric("latency", "s", "lower", per("loads"), note="one load, from address to value"),
        Metric(
            "total bandwidth",
            "B/s",
            "higher",
            first_of(
                derived(
                    float.__add__,
                    rate("bytes_read", role="chase"),
                    rate("bytes_read", "bytes_written", role="load"),
                ),
                rate("bytes_read", role="chase"),
            ),
            note="by all threads of pattern=loaded, the chase among them",
        ),
        Metric("page size", "B", "higher", result("page size"), note="of the system's base pages"),
    ),
    least_seconds=_least_seconds,
    pictures=(
        Ladder(),
        Curve("count", each=("pages", "stride"), along="lines, a stride apart", title="Loads from many pages"),
        Curve("total bandwidth", each=("reads", "pages"), along="drawn by all threads", title="Loads beside other traffic"),
    ),
    step=step,
    not_declared=("bytes_written",),
    smoke={"pattern": "lines,pages,loaded", "bytes": "64KiB", "count": "64", "load": "64KiB"},
)
