"""IBM XL compilers: XLSMPOPTS binds OpenMP threads (POWER7 slides on binding)."""

import itertools
import re

from octant.launchers import LauncherReading, Syntax, _command, _line, _openmp, _reading, _tables, _writing
from octant.machine import Topology
from octant.machine.cpusets import parse_cpus
from octant.placement import Placement
from octant.placement.planner import ordered_cores
from octant.placement.request import PlacementRequest, request_from_lists

TITLE = "IBM XL OpenMP (XLSMPOPTS)"
MARK = r"XLSMPOPTS"
BINDS = "threads"
OPTIONS: _tables.Table = {}
VARIABLES = _tables.table(_tables.interpreted("XLSMPOPTS"))
_KNOWN = (
    "startproc", "stride", "procs", "bind", "bindlist", "parthds",
    "usrthds", "stack", "spins", "yields", "delays", "schedule", "parthreshold", "seqthreshold", "profilefreq",
)  # fmt: skip
"""Suboptions; those of the second row do not place threads."""
_STEPS = {"startproc": "0", "stride": "1"}
_RESOURCES = {"MCM": "numa", "L2CACHE": "l2", "PROC_CORE": "core", "PROC": "thread"}


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return one line per rank: a start and a stride if they suffice, otherwise a list."""
    lines = []
    cannot = []
    for place in placement.ranks:
        cpus = [min(bound) for bound in place.threads]
        steps = {b - a for a, b in itertools.pairwise(cpus)}
        if len(set(cpus)) < len(cpus):
            cannot = [
                "threads that share a set of logical CPUs cannot be expressed: XLSMPOPTS binds each to one, or "
                "none at all"
            ]
            continue
        if len(steps) <= 1 and min(steps, default=1) > 0:
            where = f"startproc={cpus[0]}:stride={min(steps, default=1)}"
        else:
            where = "procs=" + ",".join(str(cpu) for cpu in cpus)
        lines.append(f'export OMP_NUM_THREADS={len(cpus)} XLSMPOPTS="parthds={len(cpus)}:{where}"')
    if any(len(bound) > 1 for place in placement.ranks for bound in place.threads):
        cannot.append("each thread is bound to the first hardware thread of its core, not to the whole core")
    exact = not cannot
    if len(lines) > 1:
        cannot.append("use one line per local rank, selected in a wrapper script")
    return Syntax(
        tuple(lines), exact, (*cannot, *_writing.memory_remarks(request, "the XL runtime", "MEMORY_AFFINITY"))
    )


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read startproc with stride, procs, bind and bindlist, for the threads of one rank."""
    pairs = dict(re.findall(r"(\w+)=([^:\s]+)", command.value("XLSMPOPTS")))
    parts = [part for part in re.split(r"[:\s]+", command.value("XLSMPOPTS")) if part]
    unread = next((part for part in parts if part.partition("=")[0].lower() not in _KNOWN or "=" not in part), None)
    threads = command.variables.get("OMP_NUM_THREADS") or pairs.get("parthds") or "1"
    count = _line.read_integer("the number of threads", threads)
    if not pairs:
        raise ValueError(f"cannot read XLSMPOPTS={command.value('XLSMPOPTS')}; use startproc=0:stride=2 or procs=0,2")
    if unread is not None:
        raise ValueError(f"cannot read {unread!r} in XLSMPOPTS; supported: {', '.join(_KNOWN[:6])}")
    if not {"startproc", "stride", "procs", "bind", "bindlist"} & set(pairs):
        notes = [
            "XLSMPOPTS without startproc, procs or bind does not bind threads: every thread may run on all "
            "hardware threads of its rank"
        ]
        return _openmp.one_rank((topology.allowed,) * count, topology, notes)
    cpus = _cpus(pairs, count, topology)
    missing = sorted(set(cpus) - topology.allowed)
    if missing:
        raise ValueError(
            f"cannot bind to logical CPU {missing[0]}: it does not exist on this topology, or the job may not use it"
        )
    notes = []
    if len(set(cpus)) < len(cpus):
        notes.append("several threads are bound to the same logical CPU")
    cores = {cpu.os: cpu.core for cpu in topology.cpus}
    if len({cores[cpu] for cpu in cpus}) < len(set(cpus)):
        notes.append(
            f"threads share cores, because logical CPUs are hardware threads; use a stride of {topology.smt()} "
            "for one thread per core"
        )
    return _reading.reading_of_request(request_from_lists([tuple(cpus)], count), topology, notes)


def _cpus(pairs: dict[str, str], threads: int, topology: Topology) -> list[int]:
    if "procs" in pairs:
        listed = [n for part in pairs["procs"].split(",") for n in sorted(parse_cpus(part))]
        return [listed[i % len(listed)] for i in range(threads)]
    if "bindlist" in pairs or "bind" in pairs:
        kind, _, value = pairs.get("bindlist", pairs.get("bind", "")).partition("=")
        raise_unknown = kind not in _RESOURCES
        numbers = [_line.read_integer(kind, n, least=0) for n in value.split(",") if n.isdigit()]
        if raise_unknown or not numbers or ("bind" in pairs and len(numbers) != 3):
            raise ValueError(f"cannot read XLSMPOPTS {pairs}; use bindlist=MCM=0,1 or bind=PROC=0,16,2")
        if "bind" in pairs:
            numbers = [numbers[0] + i * numbers[2] for i in range(threads)]
        return _on_resources([numbers[i % len(numbers)] for i in range(threads)], _RESOURCES[kind], topology)
    start, stride = (_line.read_integer(key, pairs.get(key, otherwise), least=0) for key, otherwise in _STEPS.items())
    return [start + i * stride for i in range(threads)]


def _on_resources(numbers: list[int], unit: str, topology: Topology) -> list[int]:
    """Return the next free hardware thread of each resource, round-robin over cores."""
    groups = topology.groups(unit)
    order = [cpu.os for nth in range(topology.smt()) for core in ordered_cores(topology) for cpu in core[nth : nth + 1]]
    used: list[int] = []
    for number in numbers:
        if number >= len(groups):
            raise ValueError(f"cannot bind to resource {number}: the machine has {len(groups)}")
        free = [cpu for cpu in order if cpu in groups[number] and cpu not in used]
        used.append(free[0] if free else min(groups[number]))
    return used
