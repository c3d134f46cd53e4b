"""Sustained memory bandwidth: McCalpin's four loops."""

from typing import Literal

from octant import units
from octant.machine import Machine
from octant.record import Point
from octant.workload import Ask, Ceilings, Limit, Metric, Workload


def traffic(point: Point) -> float:
    """Bytes of one chunk as STREAM counts them: what the source reads and writes."""
    return point.work.bytes_read + point.work.bytes_written


def traffic_with_allocate(point: Point) -> float:
    """Bytes of one chunk with the lines that plain stores make the cache read first."""
    return traffic(point) + point.work.bytes_allocated


def _limit(_machine: Machine, ceilings: Ceilings, point: Point) -> Limit | None:
    """The best rate that any loop of this run reached with as many threads; the hardware's own peak is not visible."""
    best = ceilings.memory_bytes_per_s.get(point.ranks * point.threads)
    if best is None:
        return None
    share = traffic(point) / traffic_with_allocate(point)
    return Limit(best * share, "best memory traffic of this run, write-allocates counted")


def _ceiling(machine: Machine, point: Point) -> tuple[Literal["memory"], str] | None:
    """Arrays well beyond every cache tell what memory can do."""
    footprint = units.parse_bytes(point.knobs["bytes"]) * point.ranks
    return ("memory", "traffic") if footprint >= 2 * machine.last_level_cache_bytes() else None


def _evaluate(machine: Machine, quick: bool) -> tuple[Ask, ...]:
    last = machine.last_level_cache_bytes()
    memory = min(4 * last, machine.memory_bytes // 8)
    knobs = {"bytes": str(memory), "pages": "thp", "seconds": "1" if quick else "5"}
    asks = [Ask(mode, {**knobs, "kernel": "triad"}, f"triad, {mode}") for mode in ("one", "star", "threads")]
    return tuple(asks)


WORKLOAD = Workload(
    name="stream",
    summary="Sustained memory bandwidth: copy, scale, add and triad over arrays of doubles",
    metrics=(
        Metric("bandwidth", "B/s", "rate", traffic, note="bytes that the source reads and writes"),
        Metric("traffic", "B/s", "rate", traffic_with_allocate, note="write-allocates counted"),
    ),
    limit=_limit,
    evaluate=_evaluate,
    ceiling=_ceiling,
    axis="bytes",
    order=20,
)
