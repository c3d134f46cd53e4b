"""Remarks on unexpected properties of a placement."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from octant.machine import CpuSet, Topology
from octant.placement import RankPlacement, numbers_text


def remarks(ranks: Sequence[RankPlacement], topology: Topology) -> tuple[str, ...]:
    """Return remarks on shared cores, ranks across domains, oversubscription, mixed kinds and unusable threads."""
    found = [
        *_outside(ranks, topology),
        *_without_memory(ranks, topology),
        *_crowding(ranks),
        *_shared_cores(ranks, topology),
        *_spanning(ranks, topology),
        *_alternating(ranks, topology),
        *_kinds(ranks, topology),
    ]
    return tuple(found)


def _names(numbers: Sequence[int]) -> str:
    return ("rank " if len(numbers) == 1 else "ranks ") + numbers_text(tuple(numbers))


def _outside(ranks: Sequence[RankPlacement], topology: Topology) -> list[str]:
    bad = [place.rank for place in ranks if place.cpus - topology.allowed]
    if not bad:
        return []
    allowed = numbers_text(topology.allowed)
    return [f"{_names(bad)}: bound to hardware threads outside of the affinity mask of this job ({allowed})"]


def _without_memory(ranks: Sequence[RankPlacement], topology: Topology) -> list[str]:
    """Return a remark on ranks with hardware threads in no NUMA node, if there are NUMA nodes."""
    inside = frozenset(cpu.os for cpu in topology.cpus if cpu.numa is not None)
    bad = [place.rank for place in ranks if place.cpus - inside]
    if not inside or not bad:
        return []
    threads = frozenset().union(*(place.cpus for place in ranks)) - inside
    return [f"{_names(bad)}: hardware threads {numbers_text(threads)} are in no NUMA node and have no local memory"]


def _crowding(ranks: Sequence[RankPlacement]) -> list[str]:
    bad = [p.rank for p in ranks if len(p.threads) > len(p.cpus)]
    if not bad:
        return []
    place = next(p for p in ranks if p.rank == bad[0])
    return [f"{_names(bad)}: oversubscribed, {len(place.threads)} threads on {len(place.cpus)} hardware thread(s)"]


def _shared_cores(ranks: Sequence[RankPlacement], topology: Topology) -> list[str]:
    """Return a remark on ranks that share cores or hardware threads."""
    core_of = {cpu.os: cpu.core for cpu in topology.cpus}
    on_core: dict[int, list[tuple[RankPlacement, CpuSet]]] = defaultdict(list)
    for place in ranks:
        if place.coordinates and place.coordinates[:-1] != ranks[0].coordinates[:-1]:
            continue
        held: dict[int, set[int]] = defaultdict(set)
        for cpu in place.cpus:
            held[core_of.get(cpu, -1)].add(cpu)
        for core, cpus in held.items():
            on_core[core].append((place, frozenset(cpus)))
    groups: dict[tuple[int, ...], bool] = {}
    for entries in on_core.values():
        if len(entries) > 1:
            key = tuple(place.rank for place, _ in entries)
            sizes = sum(len(cpus) for _, cpus in entries)
            groups[key] = groups.get(key, False) or sizes > len(frozenset().union(*(c for _, c in entries)))
    if not groups:
        return []
    everyone = sorted({rank for key in groups for rank in key})
    if any(groups.values()):
        return [f"{_names(everyone)}: share hardware threads with other ranks"]
    return [f"{_names(everyone)}: share cores with other ranks, on separate hardware threads"]


def _spanning(ranks: Sequence[RankPlacement], topology: Topology) -> list[str]:
    for unit, name in (("package", "package"), ("numa", "NUMA domain")):
        group_of = _index(topology.groups(unit))
        wide = [p.rank for p in ranks if len(p.cpus) < len(topology.allowed) and _count_touched(p.cpus, group_of) > 1]
        if wide:
            return [f"{_names(wide)}: placed on more than one {name}; first touch determines the memory placement"]
    return []


def _index(groups: Sequence[CpuSet]) -> dict[int, int]:
    return {cpu: number for number, group in enumerate(groups) for cpu in group}


def _count_touched(cpus: CpuSet, group_of: Mapping[int, int]) -> int:
    return len({group_of[cpu] for cpu in cpus if cpu in group_of})


def _alternating(ranks: Sequence[RankPlacement], topology: Topology) -> list[str]:
    """Return a remark on consecutive ranks that alternate between packages while threads of one rank share a core."""
    packages = topology.groups("package")
    cores = topology.groups("core")
    if len(ranks) < 2 or len(packages) < 2:
        return []
    package_of, core_of = _index(packages), _index(cores)
    home = [min((package_of[cpu] for cpu in p.cpus if cpu in package_of), default=-1) for p in ranks[:2]]
    crowded = [
        p.rank for p in ranks if len(p.threads) > 1 and _count_touched(p.cpus, core_of) < len(p.threads) <= len(p.cpus)
    ]
    if crowded and home[0] != home[1] and len(crowded) <= sum(1 for core in cores if core & topology.allowed):
        used = frozenset().union(*(p.cpus for p in ranks))
        idle = sum(1 for core in cores if core & topology.allowed and not core & used)
        if idle:
            return [
                f"{_names(crowded)}: consecutive ranks alternate between packages, and the threads of a rank "
                f"share a core while {idle} cores are idle"
            ]
    return []


def _kinds(ranks: Sequence[RankPlacement], topology: Topology) -> list[str]:
    kind_of = {cpu.os: cpu.kind for cpu in topology.cpus}
    kinds = {kind_of.get(cpu, "") for place in ranks for cpu in place.cpus} - {""}
    if len(kinds) < 2:
        return []
    return ["ranks use performance and efficiency cores, and wait for the slower cores; try kind=performance"]
