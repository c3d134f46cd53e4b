"""The check that every machine passes before it is shown: what its description contradicts is not used as a fact."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from octant.machine import Cache, Cpu, CpuSet, Disagreement, Machine, NumaNode, Topology
from octant.machine.cpusets import cpus_text

_SHOWN = 3
"""Contradictions of one kind that are listed; of more, their number is."""


def checked(machine: Machine) -> Machine:
    """Return the machine with a consistent topology; each contradiction becomes one of its disagreements."""
    topology, found = checked_topology(machine.topology)
    new = tuple(one for one in found if one not in machine.disagreements)
    return (
        machine
        if topology == machine.topology
        else replace(machine, topology=topology, disagreements=(*machine.disagreements, *new))
    )


def checked_topology(topology: Topology) -> tuple[Topology, tuple[Disagreement, ...]]:
    """Return a topology in which parts nest and sets lie inside the machine, and what was contradictory.

    A consistent topology is returned unchanged. Afterwards hardware threads are unique; cores nest in packages; those
    that may be used exist; NUMA nodes share hardware threads only if one holds all of the other's; each thread's node
    exists and holds it; and caches of a level are disjoint, nest in those of other levels, and divide no core unless
    all of them do. A level of caches that contradicts anything is left out, and all of them where it is the last.
    """
    found: list[Disagreement] = []
    topology = replace(topology, cpus=tuple(_threads(topology.cpus, found)))
    here = frozenset(cpu.os for cpu in topology.cpus)
    topology = replace(topology, allowed=_allowed(topology.allowed, here, found))
    topology = replace(topology, numa=tuple(_nodes(topology.numa, here, found)))
    topology = replace(topology, cpus=tuple(_homes(topology, found)))
    return replace(topology, caches=_caches(topology, here, found)), tuple(found)


def remark(one: Disagreement) -> str:
    """Return a contradiction as one sentence."""
    said = "; ".join(f"{source}: {statement}" for source, statement in one.statements)
    return f"{one.subject}: {said}. {one.trusted[:1].upper()}{one.trusted[1:]}"


def _contradiction(subject: str, *statements: tuple[str, str], instead: str) -> Disagreement:
    return Disagreement(subject, statements, f"contradiction: {instead}")


def _listed(parts: Iterable[str]) -> str:
    every = list(parts)
    more = f"; and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return "; ".join(every[:_SHOWN]) + more


def _threads(cpus: Iterable[Cpu], found: list[Disagreement]) -> Iterator[Cpu]:
    """Each hardware thread once, and the threads of a core in one package and die."""
    once: dict[int, Cpu] = {}
    twice = [cpu.os for cpu in cpus if once.setdefault(cpu.os, cpu) is not cpu]
    if twice:
        found.append(
            _contradiction(
                "hardware threads",
                ("description", f"hardware threads {cpus_text(set(twice))} are there several times"),
                instead="the first description of each is used",
            )
        )
    homes: dict[int, Cpu] = {}
    torn: dict[int, set[int]] = {}
    for cpu in once.values():
        first = homes.setdefault(cpu.core, cpu)
        if (first.package, first.die) != (cpu.package, cpu.die):
            torn.setdefault(cpu.core, {first.os}).add(cpu.os)
    if torn:
        cores = _listed(cpus_text(group) for group in torn.values())
        found.append(
            _contradiction(
                "cores",
                ("cores", f"hardware threads {cores} are one core each"),
                ("packages and dies", "those are in several"),
                instead="not used: these hardware threads count as cores of their own in each package and die",
            )
        )
    number = max(homes, default=0) + 1
    new: dict[tuple[int, int, int], int] = {}
    for cpu in sorted(once.values(), key=lambda one: one.os):
        first = homes[cpu.core]
        if (first.package, first.die) == (cpu.package, cpu.die):
            yield cpu
        else:
            yield replace(cpu, core=new.setdefault((cpu.core, cpu.package, cpu.die), number + len(new)))


def _allowed(allowed: CpuSet, here: CpuSet, found: list[Disagreement]) -> CpuSet:
    if allowed and allowed <= here:
        return allowed
    outside = allowed - here
    said = f"hardware threads {cpus_text(outside)} may be used" if outside else "no hardware thread may be used"
    found.append(
        _contradiction(
            "usable hardware threads",
            ("usable threads", said),
            ("topology", f"hardware threads are {cpus_text(here)}"),
            instead="those that exist are used"
            if allowed & here
            else "not used: every hardware thread counts as usable",
        )
    )
    return (allowed & here) or here


def _nodes(nodes: Iterable[NumaNode], here: CpuSet, found: list[Disagreement]) -> Iterator[NumaNode]:
    """Each node once, with hardware threads that exist and that no other node claims in part."""
    once: dict[int, NumaNode] = {}
    twice = [node.os for node in nodes if once.setdefault(node.os, node) is not node]
    if twice:
        found.append(
            _contradiction(
                "NUMA nodes",
                ("description", f"nodes {cpus_text(set(twice))} are there several times"),
                instead="the first description of each is used",
            )
        )
    outside = {node.os: node.cpus - here for node in once.values() if node.cpus - here}
    if outside:
        found.append(
            _contradiction(
                "NUMA nodes",
                ("NUMA nodes", _listed(f"node {n} holds hardware threads {cpus_text(c)}" for n, c in outside.items())),
                ("topology", f"hardware threads are {cpus_text(here)}"),
                instead="those hardware threads are not used",
            )
        )
    kept = {number: node.cpus & here for number, node in once.items()}
    disputed = _overlap(kept)
    if disputed:
        claims = [f"node {n} holds {cpus_text(cpus & disputed)}" for n, cpus in kept.items() if cpus & disputed]
        found.append(
            _contradiction(
                "NUMA nodes",
                *((f"node {n}", f"holds hardware threads {cpus_text(kept[n])}") for n in kept if kept[n] & disputed),
                instead=f"not used: hardware threads {cpus_text(disputed)} count as in no node ({_listed(claims)})",
            )
        )
    wrong = [node.os for node in once.values() if node.distances and len(node.distances) != len(once)]
    if wrong:
        found.append(
            _contradiction(
                "NUMA distances",
                ("distances", f"nodes {cpus_text(wrong)} state distances to another number of nodes"),
                ("NUMA nodes", f"there are {len(once)}"),
                instead="not used",
            )
        )
    for number, node in once.items():
        cpus, distances = kept[number] - disputed, () if wrong else node.distances
        same = cpus == node.cpus and distances == node.distances
        yield node if same else replace(node, cpus=cpus, distances=distances)


def _overlap(sets: Mapping[int, CpuSet]) -> CpuSet:
    """Members of sets that overlap in part: neither holds all of the other."""
    found: set[int] = set()
    groups = list(sets.values())
    for at, one in enumerate(groups):
        for other in groups[at + 1 :]:
            both = one & other
            if both and both not in (one, other):
                found |= both
    return frozenset(found)


def _homes(topology: Topology, found: list[Disagreement]) -> Iterator[Cpu]:
    """The hardware threads, without a node where their node does not hold them or divides their core."""
    holds = {node.os: node.cpus for node in topology.numa}
    of_core: dict[int, set[int | None]] = {}
    for cpu in topology.cpus:
        of_core.setdefault(cpu.core, set()).add(cpu.numa)
    said = [one for one in topology.cpus if one.numa is not None and one.os not in holds.get(one.numa, frozenset())]
    several = {core for core, numbers in of_core.items() if len(numbers - {None}) > 1}
    lost = frozenset(cpu.os for cpu in said) | {cpu.os for cpu in topology.cpus if cpu.core in several}
    if lost and not any(one.subject == "NUMA nodes" for one in found):
        found.append(
            _contradiction(
                "NUMA nodes",
                ("hardware threads", f"{cpus_text(lost)} have a node"),
                ("NUMA nodes", "that node does not hold them, or holds a part of their core"),
                instead=f"not used: hardware threads {cpus_text(lost)} count as in no node",
            )
        )
    for cpu in topology.cpus:
        yield replace(cpu, numa=None) if cpu.os in lost and cpu.numa is not None else cpu


def _caches(topology: Topology, here: CpuSet, found: list[Disagreement]) -> tuple[Cache, ...] | None:
    """The caches of levels that nothing contradicts; `None` where the last level is contradictory."""
    if topology.caches is None:
        return None
    levels: dict[tuple[int, str], list[Cache]] = {}
    for cache in topology.caches:
        levels.setdefault((cache.level, "instruction" if cache.kind == "instruction" else "data"), []).append(cache)
    cores, packages = topology.groups("core"), topology.groups("package")
    wrong: dict[tuple[int, str], str] = {}
    for key, caches in levels.items():
        why = _wrong_level(caches, here, cores, packages)
        if why:
            wrong[key] = why
    data = sorted(key for key in levels if key[1] == "data" and key not in wrong)
    for inner, outer in pairwise(data):
        if not _nest([cache.cpus for cache in levels[inner]], [cache.cpus for cache in levels[outer]]):
            wrong[inner] = wrong[outer] = f"level-{inner[0]} and level-{outer[0]} caches overlap in part"
    if not wrong:
        return topology.caches
    last = max((key for key in levels if key[1] == "data"), default=None)
    names = _listed(f"level-{level} {kind}" for level, kind in wrong)
    found.append(
        _contradiction(
            "caches",
            *((f"level-{level} {kind} caches", why) for (level, kind), why in wrong.items()),
            instead="not used: the caches are not known" if last in wrong else f"not used: {names} caches",
        )
    )
    if last in wrong:
        return None
    return tuple(cache for key, caches in levels.items() if key not in wrong for cache in caches)


def _wrong_level(caches: list[Cache], here: CpuSet, cores: tuple[CpuSet, ...], packages: tuple[CpuSet, ...]) -> str:
    """Why caches of one level contradict each other or the cores; empty where they do not."""
    sets = [cache.cpus for cache in caches]
    if not all(sets):
        return "one is shared by no hardware thread"
    outside = frozenset().union(*sets) - here
    if outside:
        return f"they belong to hardware threads {cpus_text(outside)}, which do not exist"
    twice = [cpu for cpu, number in Counter(cpu for one in sets for cpu in one).items() if number > 1]
    if twice:
        return f"several belong to hardware threads {cpus_text(twice)}"
    if not _nest(sets, cores):
        return "they overlap cores in part"
    if not _nest(sets, packages):
        return "they overlap packages in part"
    touched = sum(1 for core in cores if not core.isdisjoint(frozenset().union(*sets)))
    if len(sets) > touched and all(len(one) == 1 for one in sets):
        return f"{len(sets)} caches of one hardware thread each, for {touched} cores"
    return ""


def _nest(sets: Iterable[CpuSet], others: Iterable[CpuSet]) -> bool:
    """Whether each set lies inside one of the others, or holds each that it touches whole. Both are disjoint."""
    of = {cpu: number for number, other in enumerate(others) for cpu in other}
    sizes = Counter(of.values())
    for one in sets:
        touched = Counter(of[cpu] for cpu in one if cpu in of)
        if len(touched) > 1 and any(sizes[number] != count for number, count in touched.items()):
            return False
    return True
