"""Run rules of benchmarks that a measurement does not meet: sizes of arrays, and sizes that a benchmark prescribes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.benchmarks.table import size_name
from octant.request import comparable

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.benchmarks import Benchmark
    from octant.benchmarks.table import BenchmarkTest
    from octant.machine import Machine
    from octant.record import Point

STREAM_FACTOR = 4
"""Smallest size of an array over that of the last-level caches (McCalpin, *STREAM: run rules*)."""


def unmet_rule(machine: Machine, benchmark: Benchmark, test: BenchmarkTest, cell: Figure) -> str:
    """Return the run rule that a measured cell does not meet, as a sentence without a full stop; empty if none.

    Args:
        machine: on which it was measured.
        benchmark: of the test.
    """
    point = cell.point
    if test.arrays and (text := _unmet_array_size(machine, test, point)):
        return text
    own = benchmark.part("sizes")
    if own is None or point.ranks is None:
        return ""
    hosts = len({one.host for one in point.given}) or 1
    ruled = own.prescribed(point.ranks, (machine.memory_bytes or 0) * hosts)
    for knob, value in test.knobs.items():
        prescribed, size = getattr(ruled, size_name(value) or "label", ""), comparable(cell.knobs.get(knob, ""))
        if isinstance(prescribed, int) and size.isdecimal() and int(size) < prescribed:
            return f"sizes below those that {benchmark.short_name} prescribes for this memory ({ruled.label})"
    return ""


def _unmet_array_size(machine: Machine, test: BenchmarkTest, point: Point) -> str:
    """Return how STREAM's rule on the size of arrays is broken; empty if it is met, or the caches are not known."""
    footprint = comparable(point.knobs.get("bytes", ""))
    cached = _reachable_cache_bytes(machine, point)
    if not footprint.isdecimal() or not cached:
        return ""
    total = int(footprint) * (point.working_ranks or 1 if test.mode == "star" else 1)
    if total <= cached:
        return "the arrays fit into the caches: not a STREAM result"
    if total < STREAM_FACTOR * cached * test.arrays:
        times = f"{total / test.arrays / cached:.1f}"
        return f"each array is {times} times the caches, below the {STREAM_FACTOR} times of STREAM: not a STREAM result"
    return ""


def _reachable_cache_bytes(machine: Machine, point: Point) -> int:
    """Return the total size of the last-level caches of the hardware threads used; 0 if it is not known."""
    caches = machine.topology.data_caches(max((one.level for one in machine.topology.data_caches()), default=0))
    total = 0
    for host in {one.host for one in point.given}:
        used = {cpu for one in point.given if one.host == host for mask in one.thread_masks for cpu in mask}
        total += sum(one.size_bytes or 0 for one in caches if used & set(one.cpus))
    return total
