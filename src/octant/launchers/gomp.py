"""GNU OpenMP: GOMP_CPU_AFFINITY, a list of the system's numbers, assigned to threads in turn."""

import re

from octant.launchers import Reading, Syntax, _command, _openmp, _shared, _tables
from octant.machine import Topology
from octant.machine.synthetic import parse_cpus
from octant.placement import Placement, set_text
from octant.placement.request import Request

TITLE = "GNU OpenMP (GOMP_CPU_AFFINITY)"
MARK = r"GOMP_CPU_AFFINITY"
BINDS = "threads"
VARIABLES = _tables.table(_tables.interpreted("GOMP_CPU_AFFINITY"))


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """One line per rank: the first hardware thread of each thread's set."""
    lines, cannot = [], []
    for place in placement.ranks:
        cpus = [min(held) for held in place.threads]
        if len(set(cpus)) < len(cpus):
            cannot = ["threads that move within a domain: GOMP_CPU_AFFINITY binds each to one hardware thread"]
            continue
        listed = " ".join(str(cpu) for cpu in cpus)
        lines.append(f'export OMP_NUM_THREADS={len(cpus)} GOMP_CPU_AFFINITY="{listed}"')
    wide = any(len(held) > 1 for place in placement.ranks for held in place.threads)
    if wide and lines:
        cannot.append("each thread is bound to the first hardware thread of its core, not to the whole core")
    if len(lines) > 1:
        cannot.append("every rank needs a line of its own, chosen in a wrapper script")
    return Syntax(tuple(lines), not wide and bool(lines), (*cannot, *_shared.no_memory(request, "GNU's runtime")))


def from_syntax(command: _command.Command, topology: Topology) -> Reading:
    """Lists of numbers, ranges and strides, separated by blanks or commas."""
    text = command.text
    line = _shared.read_line(text)
    parts = re.split(r"[\s,]+", line.value("GOMP_CPU_AFFINITY").strip())
    cpus = [cpu for part in parts for cpu in sorted(parse_cpus(part))]
    notes = _openmp.runtimes(line.variables)
    outside = frozenset(cpus) - topology.allowed
    usable = [cpu for cpu in cpus if cpu in topology.allowed]
    if outside:
        notes.append(
            f"GOMP_CPU_AFFINITY names hardware threads {set_text(outside)} outside this job's set "
            f"({set_text(topology.allowed)}): they are ignored" + ("" if usable else ", so nothing is bound")
        )
    count = line.threads() or len(topology.allowed)
    if not usable:
        return _openmp.one_rank((topology.allowed,) * count, topology, notes)
    sets = tuple(frozenset({usable[i % len(usable)]}) for i in range(count))
    return _openmp.one_rank(sets, topology, notes)
