"""Random updates of a table in the memory of each rank (HPC Challenge's RandomAccess)."""

from octant import units
from octant.limit import Known, Limit, cache_line, memory_limit
from octant.machine import Machine
from octant.metric import Metric, rate
from octant.record import Point, known_count
from octant.workload import Curve, NoTraffic, Traffic, Workload, any_size
from octant.workloads.node.randomaccess.step import step


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return the memory limit beyond the caches: each update reads and writes back one cache line."""
    line, assumed = cache_line(machine)
    footprint = int(point.notes["table_bytes"]) * known_count(point.threads) * known_count(point.working_ranks)
    moved = 2 * line * point.count("updates")
    return memory_limit(known, machine, point, footprint, moved, f"{2 * line} bytes per update{assumed}")


def _traffic(machine: Machine, point: Point) -> Traffic | NoTraffic:
    """Return the update rate of local memory by all cores: an upper bound for updates that arrive as messages."""
    cores = len({cpu.core for cpu in machine.topology.cpus})
    beyond = 2 * machine.may_be_cached_bytes()
    lanes = known_count(point.working_ranks) * known_count(point.threads) // len({given.host for given in point.given})
    if lanes < cores or lanes * int(point.notes["table_bytes"]) < beyond:
        least = units.bytes_text(beyond)
        return NoTraffic(f"a node limit needs all {cores} cores and a table of at least {least} (twice the caches)")
    return Traffic("to-itself", cost="update", relation="at_most", description="updates of its own memory, all cores")


WORKLOAD = Workload(
    summary="Random updates of a table in memory (HPCC RandomAccess within one rank)",
    metrics=(
        Metric("updates", "update/s", "higher", rate("updates"), note="an update reads and writes one 8-byte word"),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    pictures=(Curve("bytes", marks="caches", along="footprint", title="Random updates by footprint"),),
    traffic=_traffic,
    step=step,
    aliases={
        "gups": {},
    },
    smoke={"bytes": "64KiB", "streams": "128,1", "prefetch": "no,yes"},
    sizes={"bytes": any_size},
)
