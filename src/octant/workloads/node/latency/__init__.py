"""Load latency from the first-level cache to memory (pointer chasing)."""

from octant import units
from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, derived, first_of, per, rate, result
from octant.record import Point
from octant.workload import Curve, Ladder, Workload
from octant.workloads.node.latency.step import step

LEAST_CYCLES = 4  # load to use from the first-level cache: lower bound for all known cores


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return four cycles per load within the first-level cache; `None` beyond it, where no general limit is known."""
    first, clock_hz = machine.cache_bytes(1), known.clock_hz
    if point.knobs.get("pattern", "lines") != "lines" or clock_hz is None or first is None:
        return None
    if units.parse_bytes(point.knobs["bytes"]) > first:
        return None
    loads = point.count("loads") / point.lanes
    return Limit(loads * LEAST_CYCLES / clock_hz, f"{LEAST_CYCLES} cycles at {clock_hz / 1e9:.2f} GHz (measured)")


WORKLOAD = Workload(
    summary="Load latency by pointer chasing, from the first-level cache to memory, with each page size",
    metrics=(
        Metric("latency", "s", "lower", per("loads"), note="one dependent load"),
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
            note="all threads of pattern=loaded, including the pointer chase",
        ),
        Metric("page size", "B", "higher", result("page size"), note="base page size of the system"),
    ),
    least_seconds=_least_seconds,
    pictures=(
        Ladder(),
        Curve(
            "count", each=("pages", "stride"), along="lines, one stride apart", title="Load latency by number of pages"
        ),
        Curve(
            "total bandwidth",
            each=("reads", "pages"),
            along="bandwidth of all threads",
            title="Loaded latency by bandwidth",
        ),
    ),
    step=step,
    not_declared=("bytes_written",),
    aliases={
        "lat_mem_rd": {},
        "pointer-chase": {},
    },
    smoke={"pattern": "lines,pages,loaded", "bytes": "64KiB", "count": "64", "load": "64KiB"},
)
