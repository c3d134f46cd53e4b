"""Random updates of a table in memory: HPCC's RandomAccess inside one rank."""

from octant.machine import Machine
from octant.record import Point
from octant.workload import Ask, Ceilings, Limit, Metric, Workload


def updates(point: Point) -> float:
    """Updates of one chunk; each reads and writes one word."""
    return point.work.loads


def _limit(machine: Machine, ceilings: Ceilings, point: Point) -> Limit | None:
    """Beyond the caches each update brings one line from memory and sends one back."""
    best = ceilings.memory_bytes_per_s.get(point.ranks * point.threads)
    line = max((cache.line_bytes for cache in machine.topology.caches), default=64)
    footprint = int(point.notes["table_bytes"]) * point.threads * point.ranks
    if best is None or footprint < 2 * machine.may_be_cached_bytes():
        return None
    return Limit(best / (2 * line), f"best memory traffic of this run, {2 * line} bytes an update")


def _evaluate(machine: Machine, quick: bool) -> tuple[Ask, ...]:
    if quick:
        return ()
    footprint = min(4 * machine.may_be_cached_bytes(), machine.memory_bytes // 8)
    knobs = {"bytes": str(footprint), "pages": "thp", "seconds": "2"}
    return (
        Ask("one", knobs, "random updates, one core"),
        Ask("threads", knobs, "random updates, every core"),
    )


WORKLOAD = Workload(
    name="randomaccess",
    summary="Random updates of a table in memory (HPCC RandomAccess inside one rank)",
    metrics=(Metric("updates", "update/s", "rate", updates, note="an update reads and writes one 8-byte word"),),
    limit=_limit,
    evaluate=_evaluate,
    axis="bytes",
    order=60,
)
