"""What may be unexpected about a placement: facts about its sets, whatever their source."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from octant.machine import CpuSet, Topology
from octant.placement import RankPlacement, numbers_text


def remarks(ranks: Sequence[RankPlacement], topology: Topology) -> tuple[str, ...]:
    """Sentences on shared cores, ranks across domains, crowding, mixed kinds, forbidden threads."""
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
    return [f"{_names(bad)}: bound to hardware threads that this job may not use (it may use {allowed})"]


def _without_memory(ranks: Sequence[RankPlacement], topology: Topology) -> list[str]:
    """Ranks with hardware threads outside of every memory node, where nodes are known at all."""
    inside = frozenset(cpu.os for cpu in topology.cpus if cpu.numa is not None)
    bad = [place.rank for place in ranks if place.cpus - inside]
    if not inside or not bad:
        return []
    threads = frozenset().union(*(place.cpus for place in ranks)) - inside
    return [
        f"{_names(bad)}: hardware threads {numbers_text(threads)} belong to no memory node that is known, so no "
        "memory is local to them"
    ]


def _crowding(ranks: Sequence[RankPlacement]) -> list[str]:
    bad = [p.rank for p in ranks if len(p.threads) > len(p.cpus)]
    if not bad:
        return []
    place = next(p for p in ranks if p.rank == bad[0])
    return [f"{_names(bad)}: {len(place.threads)} threads on {len(place.cpus)} hardware thread(s) take turns"]


def _shared_cores(ranks: Sequence[RankPlacement], topology: Topology) -> list[str]:
    """Ranks on one core, distinguished by whether they also share its hardware threads."""
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
    return [f"{_names(everyone)}: share cores with other ranks, each on hardware threads of its own"]


def _spanning(ranks: Sequence[RankPlacement], topology: Topology) -> list[str]:
    for unit, name in (("package", "packages"), ("numa", "NUMA domains")):
        group_of = _index(topology.groups(unit))
        wide = [p.rank for p in ranks if len(p.cpus) < len(topology.allowed) and _count_touched(p.cpus, group_of) > 1]
        if wide:
            return [f"{_names(wide)}: spans several {name}, so first touch decides where its memory is"]
    return []


def _index(groups: Sequence[CpuSet]) -> dict[int, int]:
    return {cpu: number for number, group in enumerate(groups) for cpu in group}


def _count_touched(cpus: CpuSet, group_of: Mapping[int, int]) -> int:
    return len({group_of[cpu] for cpu in cpus if cpu in group_of})


def _alternating(ranks: Sequence[RankPlacement], topology: Topology) -> list[str]:
    """Consecutive ranks on alternate packages while two threads of one rank share a core."""
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
                f"{_names(crowded)}: consecutive ranks alternate between packages, yet the threads of a rank "
                f"share a core while {idle} cores idle"
            ]
    return []


def _kinds(ranks: Sequence[RankPlacement], topology: Topology) -> list[str]:
    kind_of = {cpu.os: cpu.kind for cpu in topology.cpus}
    kinds = {kind_of.get(cpu, "") for place in ranks for cpu in place.cpus} - {""}
    if len(kinds) < 2:
        return []
    return ["ranks are on performance and efficiency cores: the slower ones set the pace; try kind=performance"]
