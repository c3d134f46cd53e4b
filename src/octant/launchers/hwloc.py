"""hwloc: hwloc-bind with object expressions."""

from octant.launchers import Reading, Syntax, _command, _shared
from octant.machine import CpuSet, Topology
from octant.machine.synthetic import parse_mask
from octant.placement import Placement, mask_text, set_text
from octant.placement.expressions import LOCATION, objects
from octant.placement.expressions import hwloc as expand
from octant.placement.request import Memory, Policy, Request

TITLE = "hwloc-bind"
MARK = r"\bhwloc-bind\b"
BINDS = "process"
READS = ("hwloc-bind",)


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """One command a rank, by logical objects; the widest that fit exactly."""
    lines = []
    memory = {"bind": "bind", "interleave": "interleave", "preferred": "bind"}.get(request.memory.policy)
    for place in placement.ranks:
        policy = ""
        if memory:
            strict = " --strict" if request.memory.policy == "bind" else ""
            policy = f" --membind nodeset={mask_text(frozenset(place.memory))} --mempolicy {memory}{strict}"
        lines.append(f"hwloc-bind {expression(place.cpus, topology)}{policy} -- {_shared.PROGRAM}")
    cannot = [*_shared.no_threads(placement, "hwloc-bind"), *_shared.no_pages(request)]
    if len(lines) > 1:
        cannot.append("hwloc-bind starts no ranks: each line belongs to one local rank, chosen in a wrapper script")
    return Syntax((*_shared.openmp_line(request), *_shared.heap_line(request), *lines), True, tuple(cannot))


def expression(held: CpuSet, topology: Topology) -> str:
    """Objects, by logical number, whose threads are exactly these."""
    for unit, name in (("package", "package"), ("numa", "numa"), ("l3", "l3"), ("core", "core"), ("thread", "pu")):
        groups = objects(topology, unit)
        if unit == "l3" and not any(cache.level == 3 for cache in topology.caches):
            continue
        inside = [index for index, group in enumerate(groups) if group <= held]
        if inside and frozenset().union(*(groups[i] for i in inside)) == held:
            return " ".join(f"{name}:{part}" for part in set_text(inside).split(","))
    raise ValueError("cannot name hardware threads that this job may not use")


def from_syntax(command: _command.Command, topology: Topology) -> Reading:
    """One rank per line: the locations before the program, those after `--membind` being memory."""
    text = command.text
    sets, memories = [], []
    for row in filter(None, (part.strip() for part in text.splitlines())):
        words = _shared.read_line(row).arguments
        if words[:1] != ["hwloc-bind"]:
            continue
        cpus, nodes, policy = _split_locations(words[1:], row)
        held = expand(" ".join(cpus), topology) if cpus else topology.allowed
        if "--single" in words:
            held = frozenset({min(held)})
        sets.append(held)
        memories.append(_memory(nodes, policy, topology) if nodes else Memory())
    return _shared.with_memory(_shared.reading_of_masks(sets, topology, None), memories, topology)


def _split_locations(words: list[str], row: str) -> tuple[list[str], list[str], str]:
    """Locations for hardware threads and for memory, and the memory policy; the program's own arguments are left."""
    found: dict[str, list[str]] = {"cpu": [], "mem": []}
    into, policy, skip = "cpu", "bind", False
    for at, word in enumerate(words):
        if skip or word in ("--cpubind", "--membind"):
            into, skip = {"--cpubind": "cpu", "--membind": "mem"}.get(word, into), False
        elif word in ("--pid", "--tid", "--get"):
            raise ValueError(
                f"cannot draw {row!r} ({word} is for running processes); try 'hwloc-bind core:0-1 -- PROGRAM'"
            )
        elif word == "--mempolicy":
            policy, skip = (*words[at + 1 :], "")[0], True
        elif word == "--" or not (word.startswith("-") or LOCATION.fullmatch(word) or word.startswith("nodeset=")):
            break
        elif not word.startswith("-"):
            found[into].append(word)
    return found["cpu"], found["mem"], policy


def _memory(nodes: list[str], policy: str, topology: Topology) -> Memory:
    held = frozenset().union(*(_nodes(word, topology) for word in nodes))
    names: dict[str, Policy] = {"bind": "bind", "interleave": "interleave", "default": "default", "firsttouch": "local"}
    if policy not in names:
        raise ValueError(f"cannot read --mempolicy {policy}; hwloc knows {', '.join(names)}")
    return Memory(names[policy], tuple(sorted(held)) if policy in ("bind", "interleave") else ())


def _nodes(word: str, topology: Topology) -> CpuSet:
    if word.startswith("nodeset="):
        return parse_mask(word.removeprefix("nodeset="))
    cpus = expand(word, topology)
    return frozenset(node.os for node in topology.numa if node.cpus & cpus)
