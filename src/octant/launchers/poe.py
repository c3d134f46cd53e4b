"""IBM Parallel Environment: MP_TASK_AFFINITY and its companions (POWER6 guide, section 5.2.2)."""

import re
from dataclasses import replace

from octant.launchers import Reading, Syntax, _command, _shared
from octant.machine import Topology
from octant.placement import Placement
from octant.placement.request import Memory, Request, explicit

TITLE = "POE (Parallel Environment)"
READS = ("poe",)
MARK = r"MP_TASK_AFFINITY"


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """The variables for an interactive job; batch jobs ignore them."""
    asked = _shared.plain(placement, request, topology)
    value = _value(asked)
    lines = [f"export MP_PROCS={len(placement.ranks)} MP_TASK_AFFINITY={value}"]
    cannot = ["batch jobs ignore MP_TASK_AFFINITY: use --for loadleveler there"]
    if asked.threads > 1 and ":" in value:
        cannot.append("PE 5.1 gives a task one core or one logical CPU only; a number after it needs a newer one")
    if asked.order != "compact":
        cannot.append(f"order={asked.order}: POE leaves the order of tasks to the scheduler")
    if asked.cpus:
        cannot.append("a list of MCM numbers names resource sets that exist already; hardware threads cannot be listed")
    if request.memory.policy in ("local", "bind"):
        lines.append("export MEMORY_AFFINITY=MCM")
    elif request.memory.policy != "default":
        cannot.append(f"memory={request.memory}: POE knows local memory only (MEMORY_AFFINITY=MCM)")
    return Syntax((*lines, *_shared.openmp_line(request)), False, tuple(cannot))


def _value(asked: Request) -> str:
    if asked.near == "adapter":
        return "SNI"
    if asked.unit not in ("hwthread", "core"):
        return "MCM"
    kind = "CORE" if asked.smt == 1 else "CPU"
    return kind if asked.threads == 1 else f"{kind}:{asked.threads}"


def from_syntax(command: _command.Command, topology: Topology) -> Reading:
    """MCM, CORE, CPU, SNI and lists, with `:n` or `(n)` of newer releases."""
    text = command.text
    line = _shared.read_line(
        re.sub(r"MP_TASK_AFFINITY\s*=\s*", "MP_TASK_AFFINITY=", text).replace("(", ":").replace(")", "")
    )
    value = line.variables.get("MP_TASK_AFFINITY", "").upper()
    kind, _, number = value.partition(":")
    threads = _shared.whole("MP_TASK_AFFINITY", number) if number.isdigit() else 1
    known = {
        "MCM": Request(1, 1, "numa", share=True),
        "CORE": Request(1, threads, "core"),
        "CPU": Request(1, threads, "hwthread", smt=0),
        "SNI": Request(1, 1, "numa", "scatter:numa", share=True, near="adapter"),
    }
    notes = ["MP_TASK_AFFINITY is ignored in batch jobs: use the LoadLeveler keywords there"]
    if kind in known:
        request = known[kind]
    elif re.fullmatch(r"[\d,]+|LIST", value):
        notes.append("a list of MCM numbers is ignored by LoadLeveler: nothing is bound")
        everywhere = [tuple(sorted(topology.allowed))] * (line.number_of("MP_PROCS") or 1)
        return _shared.reading_of_request(explicit(everywhere, 1), topology, notes)
    else:
        raise ValueError(f"cannot read MP_TASK_AFFINITY={value}; POE knows MCM, CORE, CPU, SNI and a list")
    if kind in ("MCM", "CORE", "CPU"):
        notes.append(_shared.ACCUMULATES)
    if line.variables.get("MEMORY_AFFINITY", "").upper() == "MCM":
        request = replace(request, memory=Memory("local"))
    procs = line.number_of("MP_PROCS")
    if procs:
        request = replace(request, ranks=procs)
    else:
        request, remark = _shared.fill_ranks(request, topology)
        notes += remark
    return _shared.reading_of_request(request, topology, notes)
