"""Recognition of the placement request that produces given masks, for the conversion between launchers."""

from collections.abc import Iterator, Sequence
from typing import get_args

from octant.machine import CpuSet, Topology
from octant.placement.planner import DoesNotFitError, ordered_cores, plan_or_suggest
from octant.placement.request import PlacementRequest, Unit, request_from_lists

_ORDERS = ("compact", "scatter:numa", "scatter:package", "scatter:l3", "scatter")


def recognise(sets: Sequence[CpuSet], topology: Topology, threads: int | None = None) -> PlacementRequest:
    """Return the simplest request whose ranks get exactly these sets, or a request that lists the sets.

    If `threads` is `None`, a rank has one thread per core of its set, or one per hardware thread if ranks share a core.
    """
    for request in _candidates(sets, topology, threads):
        try:
            placement = plan_or_suggest(topology, request)
        except (DoesNotFitError, ValueError):
            continue
        if [place.cpus for place in placement.ranks] == list(sets):
            return request
    order = [cpu.os for core in ordered_cores(topology) for cpu in core]
    order += sorted(frozenset().union(*sets) - set(order))
    lists = [tuple(cpu for cpu in order if cpu in held) for held in sets]
    cores = topology.groups("core")
    return request_from_lists(lists, threads or max(1, min(_cores(held, cores) for held in set(sets))))


def _cores(held: CpuSet, cores: Sequence[CpuSet]) -> int:
    return sum(1 for core in cores if core & held)


def _candidates(sets: Sequence[CpuSet], topology: Topology, threads: int | None) -> Iterator[PlacementRequest]:
    smt = sorted({1, topology.smt(), 2, 4} & set(range(1, topology.smt() + 1)))
    all_cores = topology.groups("core")
    cores = min(_cores(held, all_cores) for held in set(sets))
    orders = [o for o in _ORDERS if o != "scatter:l3" or any(cache.level == 3 for cache in topology.caches or ())]
    units = [unit for unit in get_args(Unit) if unit not in ("l2", "l3") or topology.caches is not None]
    counts = [threads] if threads else sorted({cores, min(len(held) for held in sets), 1}, reverse=True)
    if threads is None and cores > 0:
        counts.sort(key=lambda count: count != cores)
    for count in counts:
        for unit in units:
            for order in orders:
                for used in smt:
                    for share in (False, True) if unit not in ("hwthread", "core") else (False,):
                        yield PlacementRequest(len(sets), max(count, 1), unit, order, used, share=share)
