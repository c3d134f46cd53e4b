"""Sustained memory bandwidth: McCalpin's four loops, and one that only reads."""

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


def _from_memory(machine: Machine, point: Point) -> bool:
    return units.parse_bytes(point.knobs["bytes"]) * point.ranks >= 2 * machine.may_be_cached_bytes()


def _limit(machine: Machine, ceilings: Ceilings, point: Point) -> Limit | None:
    """The best traffic that any loop of this run reached with as many threads: memory's own peak is not visible.

    `None` for arrays that fit into caches, whose limit is another one.
    """
    best = ceilings.memory_bytes_per_s.get(point.ranks * point.threads)
    if best is None or not _from_memory(machine, point):
        return None
    share = traffic(point) / traffic_with_allocate(point)
    return Limit(best * share, "best memory traffic of this run, write-allocates counted")


def _ceiling(machine: Machine, point: Point) -> tuple[Literal["memory"], str] | None:
    """Arrays well beyond every cache tell what memory can do."""
    return ("memory", "traffic") if _from_memory(machine, point) else None


def _evaluate(machine: Machine, quick: bool) -> tuple[Ask, ...]:
    cores = machine.topology.usable_cores()
    total = min(4 * machine.may_be_cached_bytes(), machine.memory_bytes // 8)
    seconds = "0.5" if quick else "5"
    knobs = {
        "pages": "thp",
        "seconds": seconds,
        "store": "plain,streaming",
        "kernel": "triad" if quick else "copy,scale,add,triad",
    }
    asks = [
        Ask("one", {**knobs, "bytes": str(total)}, "triad from memory, one core"),
        Ask("star", {**knobs, "bytes": str(total // cores)}, "triad from memory, a copy on every core"),
        Ask("threads", {**knobs, "bytes": str(total)}, "triad from memory, a thread on every core"),
    ]
    ladder = [2**power for power in range(14, 40, 1 if not quick else 2) if 2**power <= total]
    curve = {"kernel": "load,triad", "bytes": ",".join(map(str, ladder)), "pages": "thp", "seconds": "0.2"}
    asks.append(Ask("one", curve, "bandwidth against footprint, one core", table=False))
    if not quick:
        widths = {
            "kernel": "triad",
            "bytes": str(total),
            "pages": "thp",
            "seconds": seconds,
            "width": "scalar,128,auto",
        }
        asks.append(Ask("one", widths, "triad against vector width, one core", table=False))
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
