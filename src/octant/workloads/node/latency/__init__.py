"""Load latency from the first-level cache to memory (pointer chasing)."""

from collections.abc import Mapping

from octant import units
from octant.limit import Known, Limit, LimitRequest, Provides
from octant.machine import Machine
from octant.metric import Metric, derived, first_of, per, rate, result
from octant.record import Point
from octant.workload import Curve, Ladder, Workload
from octant.workloads.node.latency.step import step

LOAD_LATENCY = "load latency"
LEAST_CYCLES = 4  # load to use from the first-level cache: lower bound for all known cores


def _chases_lines(_machine: Machine, point: Point) -> bool:
    return point.knobs.get("pattern", "lines") == "lines"


def _beyond_first_cache(machine: Machine, point: Point) -> bool:
    """Return whether the footprint of a thread is larger than its first-level cache, where pages have no effect."""
    first = machine.cache_bytes(1)
    return _chases_lines(machine, point) and first is not None and units.parse_bytes(point.knobs["bytes"]) > first


def _footprint_text(point: Point) -> str:
    return f"{units.parse_bytes(point.knobs['bytes'])} B"


def _limit_knobs(_machine: Machine, knobs: Mapping[str, str], _ranks: int) -> Mapping[str, str]:
    """Return loads from the same footprint on huge pages where the system grants them."""
    return {"bytes": knobs["bytes"], "pages": "try-thp"}


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return four cycles per load within the first-level cache; beyond it, the lowest latency over page sizes.

    No processor states its latency of farther levels. Loads from the same footprint differ only by address translation.
    """
    first, clock_hz = machine.cache_bytes(1), known.clock_hz
    if not _chases_lines(machine, point):
        return None
    loads = point.count("loads") / point.lanes
    if _beyond_first_cache(machine, point):
        best = known.best(LOAD_LATENCY, point.hardware_threads, _footprint_text(point))
        return Limit(loads / best.value, f"lowest latency of this footprint {best.where}") if best else None
    if clock_hz is None or first is None:
        return None
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
    bounded_by=(LOAD_LATENCY,),
    least_seconds=_least_seconds,
    provides=(
        Provides(
            LOAD_LATENCY,
            "latency",
            _beyond_first_cache,
            _footprint_text,
            setting=("pages",),
            measured_by=LimitRequest(_limit_knobs, "latency on huge pages"),
        ),
    ),
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
