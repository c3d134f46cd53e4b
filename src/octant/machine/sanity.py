"""The check that every machine passes before it is shown: what its description contradicts is not used as a fact."""

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
"""Contradictions of one kind that are listed; of more, their number is."""


def check_machine(machine: Machine) -> Machine:
    """Return the machine with a consistent topology; each contradiction becomes one of its disagreements."""
    topology, found = make_consistent(machine.topology)
    if topology == machine.topology:
        return machine
    new = tuple(one for one in found if one not in machine.disagreements)
    return replace(machine, topology=topology, disagreements=(*machine.disagreements, *new))


def make_consistent(topology: Topology) -> tuple[Topology, tuple[Disagreement, ...]]:
    """Return a topology in which parts nest and sets lie inside the machine, and what was contradictory.

    A consistent topology is returned unchanged. Afterwards hardware threads are unique; cores nest in packages; those
    that may be used exist; NUMA nodes share hardware threads only if one holds all of the other's; each thread's node
    exists and holds it; and caches of a level are disjoint, nest in those of other levels, and divide no core unless
    all of them do. A level of caches that contradicts anything is left out, and all of them where it is the last.
    """
    said = _Said()
    topology = replace(topology, cpus=tuple(_threads(topology.cpus, said)))
    here = frozenset(cpu.os for cpu in topology.cpus)
    allowed, numa = _allowed(topology.allowed, here, said), tuple(_nodes(topology.numa, here, said))
    topology = replace(topology, allowed=allowed, numa=numa)
    if numa and topology.allowed_nodes is not None and not topology.usable_nodes():
        stated = f"the memory of nodes {cpus_text(topology.allowed_nodes) or 'none'} may be used"
        there = ("topology", f"NUMA nodes are {cpus_text(node.os for node in numa)}")
        said.add("usable NUMA nodes", "not used: every node counts as usable", ("usable memory", stated), there)
        topology = replace(topology, allowed_nodes=None)
    topology = replace(topology, cpus=tuple(_homes(topology, said)))
    if wrong := _wrong_kinds(topology):
        said.add("core kinds", "not used: kinds of cores are not known", wrong, ("cores", "a core is of one kind"))
        alike = tuple(replace(cpu, kind="") for cpu in topology.cpus)
        topology = replace(topology, kinds=None, cpus=alike)
    return replace(topology, caches=_caches(topology, here, said)), tuple(said)


def remark(one: Disagreement) -> str:
    """Return a contradiction as one sentence."""
    said = "; ".join(f"{source}: {statement}" for source, statement in one.statements)
    return f"{one.subject}: {said}. {one.trusted[:1].upper()}{one.trusted[1:]}"


class _Said(list[Disagreement]):
    """The contradictions found so far."""

    def add(self, subject: str, instead: str, *statements: tuple[str, str]) -> None:
        self.append(Disagreement(subject, statements, f"contradiction: {instead}"))

    def once(self, subject: str, parts: Iterable[_Part]) -> dict[int, _Part]:
        """The parts by number; of several with one number the first."""
        found: dict[int, _Part] = {}
        twice = {part.os for part in parts if found.setdefault(part.os, part) is not part}
        if twice:
            several = f"{subject} {cpus_text(twice)} are there several times"
            self.add(subject, "the first description of each is used", ("description", several))
        return found


def _threads(cpus: Iterable[Cpu], said: _Said) -> Iterator[Cpu]:
    """Each hardware thread once, and the threads of a core in one package and die."""
    once = said.once("hardware threads", cpus)
    homes: dict[int, Cpu] = {}
    torn = {cpu.os for cpu in once.values() if _place(homes.setdefault(cpu.core, cpu)) != _place(cpu)}
    if torn:
        cores: dict[int, set[int]] = {}
        for number in torn:
            core = once[number].core
            cores.setdefault(core, {homes[core].os}).add(number)
        listed = [cpus_text(core) for core in cores.values()]
        more = f"; and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
        said.add(
            "cores",
            "not used: these hardware threads count as cores of their own in each package and die",
            ("cores", f"hardware threads {'; '.join(listed[:_SHOWN])}{more} are one core each"),
            ("packages and dies", "those are in several"),
        )
    unused = max(homes, default=0) + 1
    new: dict[tuple[int, int, int], int] = {}
    for _, cpu in sorted(once.items()):
        key = (cpu.core, *_place(cpu))
        yield replace(cpu, core=new.setdefault(key, unused + len(new))) if cpu.os in torn else cpu


def _place(cpu: Cpu) -> tuple[int, int]:
    return cpu.package, cpu.die


def _allowed(allowed: CpuSet, here: CpuSet, said: _Said) -> CpuSet:
    both, outside = allowed & here, allowed - here
    if outside or not both:
        every = "not used: every hardware thread counts as usable"
        said.add(
            "usable hardware threads",
            "those that exist are used" if both else every,
            ("usable threads", f"hardware threads {cpus_text(outside) or 'none'} may be used"),
            ("topology", f"hardware threads are {cpus_text(here)}"),
        )
    return both or here


def _nodes(nodes: Iterable[NumaNode], here: CpuSet, said: _Said) -> Iterator[NumaNode]:
    """Each node once, with hardware threads that exist and that no other node claims in part."""
    once = said.once("NUMA nodes", nodes)
    claims = {number: f"holds hardware threads {cpus_text(node.cpus)}" for number, node in once.items()}
    outside = frozenset(cpu for node in once.values() for cpu in node.cpus) - here
    if outside:
        statements = [(f"node {n}", claims[n]) for n, node in once.items() if node.cpus & outside]
        there = ("topology", f"hardware threads are {cpus_text(here)}")
        said.add("NUMA nodes", "those that do not exist are not used", *statements[:_SHOWN], there)
    kept = {number: node.cpus & here for number, node in once.items()}
    parts = (one & other for one, other in combinations(kept.values(), 2) if one & other not in (one, other))
    disputed = frozenset[int]().union(*parts)
    if disputed:
        statements = [(f"node {n}", claims[n]) for n, cpus in kept.items() if cpus & disputed]
        said.add("NUMA nodes", f"not used: hardware threads {cpus_text(disputed)} count as in no node", *statements)
    wrong = [number for number, node in once.items() if node.distances and len(node.distances) != len(once)]
    if wrong:
        other = f"nodes {cpus_text(wrong)} state distances to another number of nodes"
        said.add("NUMA distances", "not used", ("distances", other), ("NUMA nodes", f"there are {len(once)}"))
    for number, node in once.items():
        yield replace(node, cpus=kept[number] - disputed, distances=() if wrong else node.distances)


def _homes(topology: Topology, said: _Said) -> Iterator[Cpu]:
    """The hardware threads, without a node where their node does not hold them or divides their core."""
    holds = {node.os: node.cpus for node in topology.numa}
    of_core: dict[int, set[int]] = {}
    for cpu in topology.cpus:
        of_core.setdefault(cpu.core, set()).update(() if cpu.numa is None else (cpu.numa,))
    lost = {
        cpu.os
        for cpu in topology.cpus
        if len(of_core[cpu.core]) > 1 or (cpu.numa is not None and cpu.os not in holds.get(cpu.numa, ()))
    }
    if lost and not any(one.subject == "NUMA nodes" for one in said):
        said.add(
            "NUMA nodes",
            f"not used: hardware threads {cpus_text(lost)} count as in no node",
            ("hardware threads", f"{cpus_text(lost)} have a node"),
            ("NUMA nodes", "that node does not hold them, or holds a part of their core"),
        )
    for cpu in topology.cpus:
        yield replace(cpu, numa=None) if cpu.os in lost else cpu


def _caches(topology: Topology, here: CpuSet, said: _Said) -> tuple[Cache, ...] | None:
    """The caches of levels that nothing contradicts; `None` where the last level is contradictory."""
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
    listed = "the caches are not known" if unknown else "; ".join(names.values())
    said.add("caches", f"not used: {listed}", *((name, wrong[key]) for key, name in names.items()))
    return None if unknown else tuple(one for key, caches in levels.items() if key not in wrong for one in caches)


def _wrong_kinds(topology: Topology) -> tuple[str, str] | None:
    """The statement of kinds that share hardware threads or divide cores."""
    counts = Counter(cpu for kind in topology.kinds or () for cpu in kind.cpus)
    if twice := [cpu for cpu, number in counts.items() if number > 1]:
        return "core kinds", f"hardware threads {cpus_text(twice)} are of several kinds"
    of = classify(topology.kinds or ())  # hwloc also divides a kind where some clocks are not stated
    torn = [core for core in topology.groups("core") if len({of.get(cpu) for cpu in core}) > 1]
    if torn:
        return "core kinds", f"hardware threads {cpus_text(torn[0])} are one core of several kinds"
    return None


def _wrong_level(sets: list[CpuSet], here: CpuSet, units: dict[str, tuple[CpuSet, ...]]) -> str:
    """Why caches of one level contradict each other or the cores; empty where they do not."""
    if not all(sets):
        return "one is shared by no hardware thread"
    counts = Counter(cpu for one in sets for cpu in one)
    if outside := counts.keys() - here:
        return f"they belong to hardware threads {cpus_text(outside)}, which do not exist"
    if twice := [cpu for cpu, number in counts.items() if number > 1]:
        return f"several belong to hardware threads {cpus_text(twice)}"
    for unit, groups in units.items():
        if not _nest(sets, groups):
            return f"they overlap {unit}s in part"
    touched = sum(not core.isdisjoint(counts) for core in units["core"])
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
