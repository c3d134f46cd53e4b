"""IBM Parallel Environment: MP_TASK_AFFINITY and its companions (POWER6 guide, section 5.2.2)."""

import re
from collections.abc import Sequence
from dataclasses import replace

from octant.launchers import LauncherReading, Syntax, _command, _line, _reading, _tables, _words, _writing
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
    _tables.not_read("it may change the placement of tasks", "MP_*"),
)
"""Variables of POE: the POWER6 guide, section 5.2.2."""


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Find the program; options of poe follow it and are not read.

    Raises:
        ValueError: there is such an option.
    """
    option = next((word for word in words[1:] if word.startswith("-")), None)
    if option:
        raise ValueError(f"{option}: options of poe are not supported; give its MP_ variables")
    return _words.ParsedOptions(1)


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return the variables for an interactive job; batch jobs ignore them."""
    plain = _writing.simplify_request(placement, request, topology)
    value = _value(plain)
    lines = [f"export MP_PROCS={len(placement.ranks)} MP_TASK_AFFINITY={value}"]
    cannot = ["batch jobs ignore MP_TASK_AFFINITY; use --for loadleveler for them"]
    if plain.threads > 1 and ":" in value:
        cannot.append("PE 5.1 supports one core or one logical CPU per task; a number after it needs a newer version")
    if plain.order != "compact":
        cannot.append(f"order={plain.order} is not supported: the scheduler sets the order of tasks")
    if plain.cpus:
        cannot.append("hardware threads cannot be listed; a list of MCM numbers refers to existing resource sets")
    if request.memory.policy in ("local", "bind"):
        lines.append("export MEMORY_AFFINITY=MCM")
    elif request.memory.policy != "default":
        cannot.append(f"memory={request.memory}: POE supports local memory only (MEMORY_AFFINITY=MCM)")
    return Syntax((*lines, *_writing.openmp_line(request)), False, tuple(cannot))


def _value(plain: PlacementRequest) -> str:
    if plain.near == "adapter":
        return "SNI"
    if plain.unit not in ("hwthread", "core"):
        return "MCM"
    kind = "CORE" if plain.smt == 1 else "CPU"
    return kind if plain.threads == 1 else f"{kind}:{plain.threads}"


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read MCM, CORE, CPU, SNI and lists, with `:n` or `(n)` of newer releases."""
    loose = re.search(r"MP_TASK_AFFINITY\s*=\s*([\w,:()]+)", command.text)  # also with blanks, as the guide prints it
    value = (loose[1] if loose else "").replace("(", ":").replace(")", "").upper()
    kind, _, number = value.partition(":")
    procs = _line.read_integer("MP_PROCS", command.variables["MP_PROCS"]) if "MP_PROCS" in command.variables else None
    threads = _line.read_integer("MP_TASK_AFFINITY", number) if number.isdigit() else 1
    known = {
        "MCM": PlacementRequest(1, 1, "numa", share=True),
        "CORE": PlacementRequest(1, threads, "core"),
        "CPU": PlacementRequest(1, threads, "hwthread", smt=0),
        "SNI": PlacementRequest(1, 1, "numa", "scatter:numa", share=True, near="adapter"),
    }
    notes = ["batch jobs ignore MP_TASK_AFFINITY; use the keywords of LoadLeveler for them"]
    if kind in known:
        request = known[kind]
    elif re.fullmatch(r"[\d,]+|LIST", value):
        notes.append("LoadLeveler ignores a list of MCM numbers: no task is bound")
        everywhere = [tuple(sorted(topology.allowed))] * (procs or 1)
        return _reading.reading_of_request(request_from_lists(everywhere, 1), topology, notes)
    else:
        raise ValueError(f"cannot read MP_TASK_AFFINITY={value}; use MCM, CORE, CPU, SNI or a list")
    if kind in ("MCM", "CORE", "CPU"):
        notes.append(_reading.ACCUMULATES)
    if command.variables.get("MEMORY_AFFINITY", "").upper() == "MCM":
        request = replace(request, memory=Memory("local"))
    if procs:
        request = replace(request, ranks=procs)
    else:
        request, remark = _reading.fill_ranks(request, topology)
        notes += remark
    return _reading.reading_of_request(request, topology, notes)
