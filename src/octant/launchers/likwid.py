"""LIKWID: likwid-pin for one process, likwid-mpirun for ranks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from octant.launchers import LaunchCommand, LauncherReading, Syntax, _command, _reading, _tables, _words, _writing
from octant.machine import Topology
from octant.machine.cpusets import parse_cpus
from octant.placement import Placement, numbers_text
from octant.placement.expressions import parse_place
from octant.placement.request import Memory, PlacementRequest, request_from_lists

TITLE = "LIKWID (likwid-pin, likwid-mpirun)"
COMMANDS = ("likwid-mpirun",)
READS = ("likwid-pin", "likwid-mpirun")
MARK = r"\blikwid-(pin|mpirun)\b"
OPTIONS = _tables.table(
    _tables.interpreted("c|C|pin np|n", 1),
    _tables.interpreted("i|interleave"),
    _tables.irrelevant("it concerns output", "q|quiet d|debug v|V|verbose"),
    _tables.irrelevant("it selects the MPI library or counters", "mpi omp g|group f|force", 1),
    _tables.irrelevant("the placement on one node is shown", "hostfile", 1),
    _tables.not_read("it skips threads", "s|skip", 1),
    _tables.not_read("it distributes ranks or passes options to the MPI library", "nperdomain|t dist mpiopts e", 1),
    _tables.not_read("it changes memory placement", "m S|sweep"),
    _tables.refused(_words.NO_PROGRAM, "h|help p"),
)
"""Options of likwid-pin and likwid-mpirun of LIKWID 5: their manual pages."""
VARIABLES = _tables.table(
    _tables.irrelevant("it concerns output", "LIKWID_SILENT"), _tables.not_read("it may change pinning", "LIKWID_*")
)


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read options, which have one dash or two."""
    return _words.scan(words, OPTIONS, lambda word: (word.lstrip("-"), None))


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return lists of the system's CPU numbers, one per thread."""
    lists, cannot = [], []
    for place in placement.ranks:
        cpus = [min(held) for held in place.threads]
        if len(set(cpus)) < len(cpus):
            cannot = ["LIKWID pins each thread to one hardware thread; the first ones of the mask are used"]
            cpus = sorted(place.cpus)[: len(cpus)]
        lists.append(",".join(str(cpu) for cpu in cpus))
    wide = any(len(held) > 1 for place in placement.ranks for held in place.threads)
    if wide and not cannot:
        cannot.append("each thread is pinned to the first hardware thread of its core, not to the whole core")
    memory = " -i" if request.memory.policy == "interleave" else ""
    if request.memory.policy in ("bind", "preferred"):
        cannot.append(f"LIKWID supports interleaved memory only; for memory={request.memory} use numactl")
    if len(lists) == 1:
        line = f"likwid-pin{memory} -c {lists[0]} {_writing.PROGRAM}"
    else:
        line = f"likwid-mpirun -np {len(lists)} -pin {'_'.join(lists)} {_writing.PROGRAM}"
    return Syntax((line,), not wide, (*cannot, *_writing.page_remarks(request)))


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read `-c` of likwid-pin and `-pin` of likwid-mpirun."""
    listed = command.last("c")
    if listed is None:
        raise ValueError(f"cannot find -c or -pin in {command.text!r}; use likwid-pin -c N:0-3 PROGRAM")
    if re.fullmatch(r"[\d,_-]+", listed):  # the system's numbers, in the order of the threads; _ separates ranks
        parts = [[cpu for part in one.split(",") for cpu in sorted(parse_cpus(part))] for one in listed.split("_")]
        request = request_from_lists([tuple(cpus) for cpus in parts])
    else:
        request = parse_place(listed, topology)
    ranks = command.number("np") or len(request.cpus)
    if command.has("i"):
        request = replace(request, memory=Memory("interleave"))
    notes = []
    if ranks != len(request.cpus):
        notes.append(f"{len(request.cpus)} lists for {ranks} ranks: the lists are reused from the first one")
        lists = tuple(request.cpus[rank % len(request.cpus)] for rank in range(ranks))
        request = PlacementRequest(**{**vars(request), "ranks": ranks, "cpus": lists})
    used = numbers_text(frozenset(cpu for cpus in request.cpus for cpu in cpus))
    return _reading.reading_of_request(
        request, topology, (*notes, f"the threads are pinned to hardware threads {used}, one thread each")
    )


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Refuse `likwid-mpirun`: nothing can be put in front of its program.

    By its source (`likwid-mpirun.lua`) it passes every word behind `--`, wherever that is, to the MPI library, joins
    the words of the program without quotation marks, and puts likwid-pin in front of them.

    Raises:
        ValueError: always.
    """
    raise ValueError(
        "it starts the program from a generated script with likwid-pin, and interprets -- in the arguments of "
        "the program"
    )
