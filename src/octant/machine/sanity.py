"""Consistency check of machines: contradictory parts of a description are not used and are reported."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from typing import TypeVar

from octant.machine import Cache, Cpu, CpuSet, Disagreement, Machine, NumaNode, Topology
from octant.machine.cpusets import cpus_text
from octant.machine.kinds import classify

_Part = TypeVar("_Part", Cpu, NumaNode)
_SHOWN = 3
"""Number of contradictions of one kind that are listed; further ones are counted."""


def check_machine(machine: Machine) -> Machine:
    """Return the machine with a consistent topology; each contradiction becomes one of its disagreements."""
    topology, found = make_consistent(machine.topology)
    if topology == machine.topology:
        return machine
    new = tuple(one for one in found if one not in machine.disagreements)
    return replace(machine, topology=topology, disagreements=(*machine.disagreements, *new))


def make_consistent(topology: Topology) -> tuple[Topology, tuple[Disagreement, ...]]:
    """Return a consistent topology, and the contradictions that were removed.

    A consistent topology is returned unchanged. In a consistent topology, hardware threads are unique; cores nest in
    packages; usable hardware threads exist; NUMA nodes are disjoint or nested; the NUMA node of each thread exists and
    contains it; and caches of a level are disjoint, nest in those of other levels, and do not divide cores unless all
    of them do. Contradictory levels of caches are removed; if the last level is contradictory, all caches are.
    """
    contradictions = _Contradictions()
    topology = replace(topology, cpus=tuple(_threads(topology.cpus, contradictions)))
    here = frozenset(cpu.os for cpu in topology.cpus)
    allowed, numa = _allowed(topology.allowed, here, contradictions), tuple(_nodes(topology.numa, here, contradictions))
    topology = replace(topology, allowed=allowed, numa=numa)
    if numa and topology.allowed_nodes is not None and not topology.usable_nodes():
        stated = f"nodes {cpus_text(topology.allowed_nodes) or 'none'} are usable"
        existing = ("topology", f"NUMA nodes {cpus_text(node.os for node in numa)} exist")
        contradictions.add(
            "usable NUMA nodes", "ignored; every node counts as usable", ("usable memory", stated), existing
        )
        topology = replace(topology, allowed_nodes=None)
    topology = replace(topology, cpus=tuple(_homes(topology, contradictions)))
    if wrong := _wrong_kinds(topology):
        contradictions.add(
            "core kinds", "ignored; kinds of cores are not known", wrong, ("cores", "each core has one kind")
        )
        alike = tuple(replace(cpu, kind="") for cpu in topology.cpus)
        topology = replace(topology, kinds=None, cpus=alike)
    return replace(topology, caches=_caches(topology, here, contradictions)), tuple(contradictions)


def remark(one: Disagreement) -> str:
    """Return a disagreement as text: subject, statements, and the source that is used."""
    statements = "; ".join(f"{source}: {statement}" for source, statement in one.statements)
    return f"{one.subject}: {statements}. {one.trusted[:1].upper()}{one.trusted[1:]}"


class _Contradictions(list[Disagreement]):
    """Contradictions found so far."""

    def add(self, subject: str, consequence: str, *statements: tuple[str, str]) -> None:
        self.append(Disagreement(subject, statements, f"contradiction: {consequence}"))

    def unique(self, subject: str, parts: Iterable[_Part]) -> dict[int, _Part]:
        """Return the parts by number; the first part of each number is kept."""
        found: dict[int, _Part] = {}
        twice = {part.os for part in parts if found.setdefault(part.os, part) is not part}
        if twice:
            duplicates = f"{subject} {cpus_text(twice)} are described more than once"
            self.add(subject, "the first description of each is used", ("description", duplicates))
        return found


def _threads(cpus: Iterable[Cpu], contradictions: _Contradictions) -> Iterator[Cpu]:
    """Yield each hardware thread once; the threads of a core are in one package and die."""
    once = contradictions.unique("hardware threads", cpus)
    homes: dict[int, Cpu] = {}
    torn = {cpu.os for cpu in once.values() if _place(homes.setdefault(cpu.core, cpu)) != _place(cpu)}
    if torn:
        cores: dict[int, set[int]] = {}
        for number in torn:
            core = once[number].core
            cores.setdefault(core, {homes[core].os}).add(number)
        listed = [cpus_text(core) for core in cores.values()]
        more = f"; and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
        contradictions.add(
            "cores",
            "ignored; these hardware threads count as separate cores in each package and die",
            ("cores", f"hardware threads {'; '.join(listed[:_SHOWN])}{more} are one core each"),
            ("packages and dies", "these hardware threads are in more than one"),
        )
    unused = max(homes, default=0) + 1
    new: dict[tuple[int, int, int], int] = {}
    for _, cpu in sorted(once.items()):
        key = (cpu.core, *_place(cpu))
        yield replace(cpu, core=new.setdefault(key, unused + len(new))) if cpu.os in torn else cpu


def _place(cpu: Cpu) -> tuple[int, int]:
    return cpu.package, cpu.die


def _allowed(allowed: CpuSet, here: CpuSet, contradictions: _Contradictions) -> CpuSet:
    both, outside = allowed & here, allowed - here
    if outside or not both:
        every = "ignored; every hardware thread counts as usable"
        contradictions.add(
            "usable hardware threads",
            "hardware threads that do not exist are ignored" if both else every,
            ("usable threads", f"hardware threads {cpus_text(outside) or 'none'} are usable"),
            ("topology", f"hardware threads {cpus_text(here)} exist"),
        )
    return both or here


def _nodes(nodes: Iterable[NumaNode], here: CpuSet, contradictions: _Contradictions) -> Iterator[NumaNode]:
    """Yield each node once, with existing hardware threads that no other node contains in part."""
    once = contradictions.unique("NUMA nodes", nodes)
    claims = {number: f"contains hardware threads {cpus_text(node.cpus)}" for number, node in once.items()}
    outside = frozenset(cpu for node in once.values() for cpu in node.cpus) - here
    if outside:
        statements = [(f"node {n}", claims[n]) for n, node in once.items() if node.cpus & outside]
        existing = ("topology", f"hardware threads {cpus_text(here)} exist")
        contradictions.add(
            "NUMA nodes", "hardware threads that do not exist are ignored", *statements[:_SHOWN], existing
        )
    kept = {number: node.cpus & here for number, node in once.items()}
    parts = (one & other for one, other in combinations(kept.values(), 2) if one & other not in (one, other))
    disputed = frozenset[int]().union(*parts)
    if disputed:
        statements = [(f"node {n}", claims[n]) for n, cpus in kept.items() if cpus & disputed]
        contradictions.add(
            "NUMA nodes", f"ignored; hardware threads {cpus_text(disputed)} count as in no node", *statements
        )
    wrong = [number for number, node in once.items() if node.distances and len(node.distances) != len(once)]
    if wrong:
        other = f"nodes {cpus_text(wrong)} state distances to a different number of nodes"
        contradictions.add(
            "NUMA distances", "ignored", ("distances", other), ("NUMA nodes", f"{len(once)} nodes exist")
        )
    for number, node in once.items():
        yield replace(node, cpus=kept[number] - disputed, distances=() if wrong else node.distances)


def _homes(topology: Topology, contradictions: _Contradictions) -> Iterator[Cpu]:
    """Yield the hardware threads, without a node where their node does not hold them or divides their core."""
    holds = {node.os: node.cpus for node in topology.numa}
    of_core: dict[int, set[int]] = {}
    for cpu in topology.cpus:
        of_core.setdefault(cpu.core, set()).update(() if cpu.numa is None else (cpu.numa,))
    lost = {
        cpu.os
        for cpu in topology.cpus
        if len(of_core[cpu.core]) > 1 or (cpu.numa is not None and cpu.os not in holds.get(cpu.numa, ()))
    }
    if lost and not any(one.subject == "NUMA nodes" for one in contradictions):
        contradictions.add(
            "NUMA nodes",
            f"ignored; hardware threads {cpus_text(lost)} count as in no node",
            ("hardware threads", f"{cpus_text(lost)} state a node"),
            ("NUMA nodes", "that node does not contain them, or contains only a part of their core"),
        )
    for cpu in topology.cpus:
        yield replace(cpu, numa=None) if cpu.os in lost else cpu


def _caches(topology: Topology, here: CpuSet, contradictions: _Contradictions) -> tuple[Cache, ...] | None:
    """Return the caches of the consistent levels; `None` if the last level is contradictory."""
    if topology.caches is None:
        return None
    levels: dict[tuple[int, str], list[Cache]] = {}
    for cache in topology.caches:
        levels.setdefault((cache.level, "instruction" if cache.kind == "instruction" else "data"), []).append(cache)
    sets = {key: [cache.cpus for cache in caches] for key, caches in levels.items()}
    units = {unit: topology.groups(unit) for unit in ("core", "package")}
    wrong = {key: why for key in levels if (why := _wrong_level(sets[key], here, units))}
    data = sorted(key for key in levels if key[1] == "data")
    for inner, outer in pairwise([key for key in data if key not in wrong]):
        if not _nest(sets[inner], sets[outer]):
            wrong[inner] = wrong[outer] = f"level-{inner[0]} and level-{outer[0]} caches overlap in part"
    if not wrong:
        return topology.caches
    names = {(level, kind): f"level-{level} {kind} caches" for level, kind in wrong}
    unknown = bool(data) and data[-1] in wrong
    consequence = "ignored; caches are not known" if unknown else f"ignored: {'; '.join(names.values())}"
    contradictions.add("caches", consequence, *((name, wrong[key]) for key, name in names.items()))
    return None if unknown else tuple(one for key, caches in levels.items() if key not in wrong for one in caches)


def _wrong_kinds(topology: Topology) -> tuple[str, str] | None:
    """Return the contradiction of kinds that share hardware threads or divide cores; `None` if there is none."""
    counts = Counter(cpu for kind in topology.kinds or () for cpu in kind.cpus)
    if twice := [cpu for cpu, number in counts.items() if number > 1]:
        return "core kinds", f"hardware threads {cpus_text(twice)} have more than one kind"
    of = classify(topology.kinds or ())  # hwloc also divides a kind if some clock frequencies are not stated
    torn = [core for core in topology.groups("core") if len({of.get(cpu) for cpu in core}) > 1]
    if torn:
        return "core kinds", f"hardware threads {cpus_text(torn[0])} of one core have different kinds"
    return None


def _wrong_level(sets: list[CpuSet], here: CpuSet, units: dict[str, tuple[CpuSet, ...]]) -> str:
    """Return why caches of one level contradict each other or the cores; "" if they do not."""
    if not all(sets):
        return "one cache has no hardware thread"
    counts = Counter(cpu for one in sets for cpu in one)
    if outside := counts.keys() - here:
        return f"their hardware threads {cpus_text(outside)} do not exist"
    if twice := [cpu for cpu, number in counts.items() if number > 1]:
        return f"hardware threads {cpus_text(twice)} have more than one"
    for unit, groups in units.items():
        if not _nest(sets, groups):
            return f"they overlap {unit}s in part"
    touched = sum(not core.isdisjoint(counts) for core in units["core"])
    if len(sets) > touched and all(len(one) == 1 for one in sets):
        return f"{touched} cores have {len(sets)} caches of one hardware thread each"
    return ""


def _nest(sets: Iterable[CpuSet], others: Iterable[CpuSet]) -> bool:
    """Return whether each set is inside one of the others or contains each of the others that it intersects."""
    of = {cpu: number for number, other in enumerate(others) for cpu in other}
    sizes = Counter(of.values())
    for one in sets:
        touched = Counter(of[cpu] for cpu in one if cpu in of)
        if len(touched) > 1 and any(sizes[number] != count for number, count in touched.items()):
            return False
    return True
