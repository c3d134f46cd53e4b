"""IBM Parallel Environment: MP_TASK_AFFINITY and its companions (POWER6 guide, section 5.2.2)."""

import re
from collections.abc import Sequence
from dataclasses import replace

from octant.launchers import LauncherReading, Syntax, _command, _shared, _tables, _words
from octant.machine import Topology
from octant.placement import Placement
from octant.placement.request import Memory, PlacementRequest, request_from_lists

TITLE = "POE (Parallel Environment)"
READS = ("poe",)
MARK = r"MP_TASK_AFFINITY"
OPTIONS: _tables.Table = {}
VARIABLES = _tables.table(
    _tables.interpreted("MP_TASK_AFFINITY MP_PROCS MEMORY_AFFINITY"),
    _tables.irrelevant("it concerns output", "MP_LABELIO MP_INFOLEVEL MP_STDOUTMODE MP_STDINMODE MP_PMDLOG"),
    _tables.irrelevant("it concerns messages", "MP_EUILIB MP_EUIDEVICE MP_EAGER_LIMIT MP_BUFFER_MEM MP_SHARED_MEMORY"),
    _tables.not_read("it may change the places of tasks", "MP_*"),
)
"""Variables of POE: the POWER6 guide, section 5.2.2."""


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Find the program; options of poe follow it and are not read.

    Raises:
        ValueError: there is such an option.
    """
    option = next((word for word in words[1:] if word.startswith("-")), None)
    if option:
        raise ValueError(f"{option}: options of poe are not read; give its MP_ variables")
    return _words.ParsedOptions(1)


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
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


def _value(asked: PlacementRequest) -> str:
    if asked.near == "adapter":
        return "SNI"
    if asked.unit not in ("hwthread", "core"):
        return "MCM"
    kind = "CORE" if asked.smt == 1 else "CPU"
    return kind if asked.threads == 1 else f"{kind}:{asked.threads}"


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """MCM, CORE, CPU, SNI and lists, with `:n` or `(n)` of newer releases."""
    loose = re.search(r"MP_TASK_AFFINITY\s*=\s*([\w,:()]+)", command.text)  # also with blanks, as the guide prints it
    value = (loose[1] if loose else "").replace("(", ":").replace(")", "").upper()
    kind, _, number = value.partition(":")
    procs = _shared.whole("MP_PROCS", command.variables["MP_PROCS"]) if "MP_PROCS" in command.variables else None
    threads = _shared.whole("MP_TASK_AFFINITY", number) if number.isdigit() else 1
    known = {
        "MCM": PlacementRequest(1, 1, "numa", share=True),
        "CORE": PlacementRequest(1, threads, "core"),
        "CPU": PlacementRequest(1, threads, "hwthread", smt=0),
        "SNI": PlacementRequest(1, 1, "numa", "scatter:numa", share=True, near="adapter"),
    }
    notes = ["MP_TASK_AFFINITY is ignored in batch jobs: use the LoadLeveler keywords there"]
    if kind in known:
        request = known[kind]
    elif re.fullmatch(r"[\d,]+|LIST", value):
        notes.append("a list of MCM numbers is ignored by LoadLeveler: nothing is bound")
        everywhere = [tuple(sorted(topology.allowed))] * (procs or 1)
        return _shared.reading_of_request(request_from_lists(everywhere, 1), topology, notes)
    else:
        raise ValueError(f"cannot read MP_TASK_AFFINITY={value}; POE knows MCM, CORE, CPU, SNI and a list")
    if kind in ("MCM", "CORE", "CPU"):
        notes.append(_shared.ACCUMULATES)
    if command.variables.get("MEMORY_AFFINITY", "").upper() == "MCM":
        request = replace(request, memory=Memory("local"))
    if procs:
        request = replace(request, ranks=procs)
    else:
        request, remark = _shared.fill_ranks(request, topology)
        notes += remark
    return _shared.reading_of_request(request, topology, notes)
