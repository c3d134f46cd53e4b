"""GNU OpenMP: GOMP_CPU_AFFINITY, a list of the system's numbers, assigned to threads in order."""

import re
from dataclasses import replace

from octant.launchers import LauncherReading, Syntax, _command, _openmp, _tables, _writing
from octant.machine import CpuSet, Topology
from octant.machine.cpusets import parse_cpus
from octant.placement import Placement, numbers_text
from octant.placement.request import PlacementRequest

TITLE = "GNU OpenMP (GOMP_CPU_AFFINITY)"
MARK = r"GOMP_CPU_AFFINITY"
BINDS = "threads"
OPTIONS: _tables.Table = {}
VARIABLES = _tables.table(
    _tables.interpreted("GOMP_CPU_AFFINITY OMP_PROC_BIND OMP_PLACES"),
    _tables.irrelevant("the GNU runtime does not read it", "KMP_AFFINITY KMP_HW_SUBSET"),
)


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return one line per rank: the first hardware thread of each thread's set."""
    lines, cannot = [], []
    for place in placement.ranks:
        cpus = [min(held) for held in place.threads]
        if len(set(cpus)) < len(cpus):
            cannot = [
                "threads that share a set of hardware threads cannot be expressed: GOMP_CPU_AFFINITY binds each to one"
            ]
            continue
        listed = " ".join(str(cpu) for cpu in cpus)
        lines.append(f'export OMP_NUM_THREADS={len(cpus)} GOMP_CPU_AFFINITY="{listed}"')
    wide = any(len(held) > 1 for place in placement.ranks for held in place.threads)
    if wide and lines:
        cannot.append("each thread is bound to the first hardware thread of its core, not to the whole core")
    if len(lines) > 1:
        cannot.append("use one line per local rank, selected in a wrapper script")
    return Syntax(
        tuple(lines), not wide and bool(lines), (*cannot, *_writing.memory_remarks(request, "the GNU runtime"))
    )


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read a list of numbers, ranges and strides, separated by blanks or commas: one place each.

    OMP_PLACES precedes the list, and OMP_PROC_BIND decides how threads use it (recorded by `record_gomp.py`).
    """
    if "OMP_PLACES" in command.variables:
        read = _openmp.read(command, topology)
        return replace(
            read, remarks=("in the GNU runtime, OMP_PLACES takes precedence over GOMP_CPU_AFFINITY", *read.remarks)
        )
    parts = re.split(r"[\s,]+", command.value("GOMP_CPU_AFFINITY").strip())
    cpus = [cpu for part in parts for cpu in sorted(_numbers(part))]
    notes = _openmp.runtimes(command.variables)
    outside = frozenset(cpus) - topology.allowed
    usable = [frozenset({cpu}) for cpu in cpus if cpu in topology.allowed]
    if outside:
        notes.append(
            f"GOMP_CPU_AFFINITY contains hardware threads {numbers_text(outside)} outside the set of this job "
            f"({numbers_text(topology.allowed)}): they are ignored" + ("" if usable else ", so nothing is bound")
        )
    return _openmp.bound_threads(command, usable, topology, notes)


def _numbers(part: str) -> CpuSet:
    """Return the numbers of a part of the list; the runtime rejects a stride without a range, and a stride of 0."""
    try:
        if re.fullmatch(r"\d+(-\d+(:[1-9]\d*)?)?", part):
            return parse_cpus(part)
    except ValueError as error:
        raise ValueError(f"cannot read GOMP_CPU_AFFINITY: {error}") from None
    raise ValueError(f"cannot read {part!r} in GOMP_CPU_AFFINITY; use '0 3 4-15:2'")
