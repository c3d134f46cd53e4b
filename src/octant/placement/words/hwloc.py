"""hwloc: hwloc-bind with object expressions."""

from octant.machine import CpuSet, Topology
from octant.placement import Placement, set_text
from octant.placement.expressions import hwloc as expand
from octant.placement.expressions import objects
from octant.placement.request import Request
from octant.placement.words import Reading, Words, _shared

TITLE = "hwloc-bind"
MARK = r"\bhwloc-bind\b"


def to_words(placement: Placement, request: Request, topology: Topology) -> Words:
    """One command a rank, by logical objects; the widest that fit exactly."""
    lines = []
    memory = {"bind": "bind", "interleave": "interleave", "preferred": "bind"}.get(request.memory.policy)
    for place in placement.ranks:
        policy = ""
        if memory:
            nodes = " ".join(f"node:P#{n}" for n in place.memory)
            strict = " --strict" if request.memory.policy == "bind" else ""
            policy = f" --membind {nodes} --mempolicy {memory}{strict}"
        lines.append(f"hwloc-bind {expression(place.cpus, topology)}{policy} -- {_shared.PROGRAM}")
    cannot = [*_shared.no_threads(placement, "hwloc-bind"), *_shared.no_pages(request)]
    if len(lines) > 1:
        cannot.append("hwloc-bind starts no ranks: each line belongs to one local rank, chosen in a wrapper script")
    return Words((*_shared.openmp_line(request), *_shared.heap_line(request), *lines), True, tuple(cannot))


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


def from_words(text: str, topology: Topology) -> Reading:
    """One rank a line."""
    sets = []
    for row in filter(None, (part.strip() for part in text.splitlines())):
        words = _shared.read_line(row).words
        if words[:1] != ["hwloc-bind"]:
            continue
        stop = next((i for i, word in enumerate(words) if i and word.startswith("--")), len(words))
        sets.append(expand(" ".join(words[1:stop]), topology))
    return _shared.masked(sets, topology, None)
