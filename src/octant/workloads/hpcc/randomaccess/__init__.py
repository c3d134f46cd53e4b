"""Random updates of a table distributed over all ranks (HPC Challenge's RandomAccess)."""

from octant.limit import Known, Limit, cache_line, memory_limit
from octant.machine import Machine
from octant.metric import Metric, rate, seconds
from octant.record import Point
from octant.step import Scaling
from octant.units import parse_bytes
from octant.workload import Bars, Curve, NoTraffic, Workload, any_size
from octant.workloads.hpcc.randomaccess.step import step


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return the memory limit beyond the caches: each update reads and writes back one cache line."""
    line, assumed = cache_line(machine)
    footprint = int(point.notes["table_bytes"]) * max(1, len(point.groups))
    if _hosts(point) > 1:
        return None
    moved = 2 * line * point.count("updates")
    return memory_limit(known, machine, point, footprint, moved, f"{2 * line} bytes per update{assumed}")


def _hosts(point: Point) -> int:
    return len({given.host for given in point.given})


def _traffic(_machine: Machine, point: Point) -> NoTraffic:
    """Return why there is no traffic: the rate is of all nodes, that of the network model of one node."""
    return NoTraffic("no update leaves the node" if _hosts(point) == 1 else "its rate is the sum over all nodes")


WORKLOAD = Workload(
    summary="Random updates of one distributed table by all ranks (HPCC RandomAccess)",
    metrics=(
        Metric("updates", "update/s", "higher", rate("updates"), note="all ranks; 1e9 update/s is 1 GUPS"),
        Metric("bytes sent", "B/s", "higher", rate("bytes_sent"), note="bytes in messages, all ranks"),
        Metric("time", "s", "lower", seconds(), note="time of all updates"),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    pictures=(
        Curve("bytes", marks="caches", along="table", title="Random updates by size of the table"),
        Bars("algorithm"),
    ),
    traffic=_traffic,
    step=step,
    scaling=Scaling(
        "randomaccess",
        "G-RandomAccess",
        "bytes",
        read=parse_bytes,
        apart=tuple({"transport": "messages", "algorithm": one} for one in ("halves", "hypercube")),
        only={"sequence": "polynomial", "hpl": "0"},
        note="RandomAccess by the faster of direct messages and a hypercube, at most 1,024 updates in advance",
    ),
    messages=True,
    smoke={"bytes": "64KiB", "transport": "shared,messages", "atomic": "yes"},
    results={"error_share": "share of the words that differ after all updates were undone"},
    sizes={"bytes": any_size},
)
