"""taskset: one affinity mask for one process and all its threads."""

import re

from octant.launchers import Reading, Syntax, _shared
from octant.machine import Topology
from octant.machine.cpusets import parse_cpus, parse_mask
from octant.placement import Placement, set_text
from octant.placement.request import Request

TITLE = "taskset (util-linux)"
MARK = r"^[ \t]*(\w+=\S+[ \t]+)*taskset\s"
BINDS = "process"


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """One command per rank; a wrapper of the launcher selects its line by the local rank."""
    lines = [f"taskset -c {set_text(place.cpus)} {_shared.PROGRAM}" for place in placement.ranks]
    cannot = [
        *_shared.no_threads(placement, "taskset"),
        *_shared.no_memory(request, "taskset", "numactl"),
        *_shared.no_pages(request),
    ]
    if len(lines) > 1:
        cannot.append("taskset starts no ranks: each line belongs to one local rank, chosen in a wrapper script")
    return Syntax((*_shared.openmp_line(request), *_shared.heap_line(request), *lines), True, tuple(cannot))


def from_syntax(text: str, topology: Topology) -> Reading:
    """One rank per line; both `-c LIST` and hexadecimal masks are read."""
    sets = []
    for row in filter(None, (part.strip() for part in text.splitlines())):
        line = _shared.read_line(row)
        if line.arguments[:1] != ["taskset"]:
            continue
        options = _shared.own_arguments(line.arguments, ())
        listed = [*line.arguments, ""][len(options)]
        if any(re.fullmatch(r"-[ac]*p[acp]*|--pid", word) for word in options):
            raise ValueError(f"cannot draw {row!r} (-p changes a running process); try 'taskset -c 0-3 PROGRAM'")
        if any(re.fullmatch(r"-a*c[ac]*|--cpu-list", word) for word in options):
            sets.append(parse_cpus(listed))
        elif re.fullmatch(r"(0x)?[0-9a-fA-F]+", listed):
            sets.append(parse_mask(listed))
        else:
            raise ValueError(f"cannot find a list or mask in {row!r}; try 'taskset -c 0-3 PROGRAM'")
    return _shared.reading_of_masks(sets, topology, _shared.read_line(text).threads())
