"""hwloc: hwloc-bind with object expressions."""

import re
from collections.abc import Sequence

from octant.launchers import LauncherReading, Syntax, _command, _reading, _tables, _words, _writing
from octant.machine import CpuSet, Topology
from octant.machine.cpusets import parse_mask
from octant.placement import Placement, mask_text, numbers_text
from octant.placement.expressions import LOCATION, objects
from octant.placement.expressions import hwloc as expand
from octant.placement.request import Memory, PlacementRequest, Policy

TITLE = "hwloc-bind"
MARK = r"\bhwloc-bind\b"
BINDS = "process"
READS = ("hwloc-bind",)
OPTIONS = _tables.table(
    _tables.interpreted("cpubind membind single strict logical|l"),
    _tables.interpreted("mempolicy", 1),
    _tables.irrelevant("it concerns output", "verbose|v quiet|q"),
    _tables.not_read("it changes the meaning of the numbers", "physical|p nodeset n taskset"),
    _tables.not_read("it changes the set of objects", "no-smt hbm no-hbm restrict disallowed whole-system"),
    _tables.not_read("it selects nodes by their memory", "best-memattr", 1),
    _tables.refused("it acts on running processes", "pid tid get e get-last-cpu-location"),
    _tables.refused(_words.NO_PROGRAM, "help|h version"),
)
"""Options of hwloc-bind 2.11: its manual page."""
VARIABLES = _tables.table(_tables.not_read("it changes the topology that hwloc-bind uses", "HWLOC_*"))


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read options and locations, up to the first word that is neither, or behind `--`."""
    given, at = _words.ParsedOptions(1), 1
    location = _tables.OptionFacts("location", "interpreted")
    while at < len(words):
        word, at = words[at], at + 1
        if word == "--":
            given.end = at
            break
        option = OPTIONS.get(word.lstrip("-")) if word.startswith("-") else None
        if option is None and (LOCATION.fullmatch(word) or word.startswith("nodeset=")):
            given.add(word, location, [word])
        elif option is None and word.startswith("-"):
            raise _words.unknown(word)
        elif option is None and re.match(r"\w+[=:]", word):
            raise ValueError(f"{word} is not a supported location")
        elif option is None:
            break
        elif option.effect == "refused":
            raise ValueError(f"{word}: {option.reason}")
        else:
            given.add(word, option, list(words[at : at + option.values]))
            at += option.values
        given.end = at
    return given


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """One command a rank, by logical objects; the widest that fit exactly."""
    lines = []
    memory = {"bind": "bind", "interleave": "interleave", "preferred": "bind"}.get(request.memory.policy)
    for place in placement.ranks:
        policy = ""
        if memory:
            strict = " --strict" if request.memory.policy == "bind" else ""
            policy = f" --membind nodeset={mask_text(place.memory_set())} --mempolicy {memory}{strict}"
        lines.append(f"hwloc-bind {expression(place.cpus, topology)}{policy} -- {_writing.PROGRAM}")
    cannot = [*_writing.thread_remarks(placement, "hwloc-bind"), *_writing.page_remarks(request)]
    if len(lines) > 1:
        cannot.append("hwloc-bind starts no ranks: use one line per local rank, selected in a wrapper script")
    return Syntax((*_writing.openmp_line(request), *_writing.heap_line(request), *lines), True, tuple(cannot))


def expression(held: CpuSet, topology: Topology) -> str:
    """Objects, by logical number, whose threads are exactly these."""
    for unit, name in (("package", "package"), ("numa", "numa"), ("l3", "l3"), ("core", "core"), ("thread", "pu")):
        if unit == "l3" and not any(cache.level == 3 for cache in topology.caches or ()):
            continue
        groups = objects(topology, unit, partial=True)
        inside = [index for index, group in enumerate(groups) if group <= held]
        if inside and frozenset().union(*(groups[i] for i in inside)) == held:
            return " ".join(f"{name}:{part}" for part in numbers_text(inside).split(","))
    raise ValueError("cannot express hardware threads that this job may not use")


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read one rank per line: locations before the program; those after `--membind` are memory."""
    sets, memories = [], []
    for row in command.rows:
        found: dict[str, list[str]] = {"cpubind": [], "membind": []}
        into = "cpubind"
        for name, values in row.given.all_values:
            into = name if name in found else into
            if name == "location":
                found[into] += values
        held = expand(" ".join(found["cpubind"]), topology) if found["cpubind"] else topology.allowed
        sets.append(frozenset({min(held)}) if row.has("single") else held)
        policy = row.last("mempolicy") or "bind"
        memories.append(_memory(found["membind"], policy, topology) if found["membind"] else Memory())
    return _reading.add_memory(_reading.reading_of_masks(sets, topology, command.threads()), memories, topology)


def _memory(nodes: list[str], policy: str, topology: Topology) -> Memory:
    held = frozenset().union(*(_nodes(word, topology) for word in nodes))
    names: dict[str, Policy] = {"bind": "bind", "interleave": "interleave", "default": "default", "firsttouch": "local"}
    if policy not in names:
        raise ValueError(f"cannot read --mempolicy {policy}; valid values of hwloc: {', '.join(names)}")
    return Memory(names[policy], tuple(sorted(held)) if policy in ("bind", "interleave") else ())


def _nodes(word: str, topology: Topology) -> CpuSet:
    if word.startswith("nodeset="):
        return parse_mask(word.removeprefix("nodeset="))
    cpus = expand(word, topology)
    return frozenset(node.os for node in topology.numa if node.cpus & cpus)
