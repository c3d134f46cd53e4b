"""LIKWID: likwid-pin for one process, likwid-mpirun for ranks."""

from collections.abc import Mapping, Sequence

from octant.launchers import LaunchCommand, Reading, Syntax, _command, _shared
from octant.machine import Topology
from octant.placement import Placement, set_text
from octant.placement.expressions import parse_place
from octant.placement.request import Request

TITLE = "LIKWID (likwid-pin, likwid-mpirun)"
COMMANDS = ("likwid-mpirun",)
READS = ("likwid-pin", "likwid-mpirun")
MARK = r"\blikwid-(pin|mpirun)\b"


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """Lists of the system's numbers: threads are pinned one by one."""
    lists, cannot = [], []
    for place in placement.ranks:
        cpus = [min(held) for held in place.threads]
        if len(set(cpus)) < len(cpus):
            cannot = [
                "threads that move within a domain: LIKWID pins each to one hardware thread (first free ones used)"
            ]
            cpus = sorted(place.cpus)[: len(cpus)]
        lists.append(",".join(str(cpu) for cpu in cpus))
    wide = any(len(held) > 1 for place in placement.ranks for held in place.threads)
    if wide and not cannot:
        cannot.append("each thread is pinned to the first hardware thread of its core, not to the whole core")
    memory = " -i" if request.memory.policy == "interleave" else ""
    if request.memory.policy in ("bind", "preferred"):
        cannot.append(f"LIKWID interleaves memory or leaves it: memory={request.memory} needs numactl")
    if len(lists) == 1:
        line = f"likwid-pin{memory} -c {lists[0]} {_shared.PROGRAM}"
    else:
        line = f"likwid-mpirun -np {len(lists)} -pin {'_'.join(lists)} {_shared.PROGRAM}"
    return Syntax((line,), not wide, (*cannot, *_shared.no_pages(request)))


def from_syntax(command: _command.Command, topology: Topology) -> Reading:
    """`-c` of likwid-pin, `-pin` of likwid-mpirun."""
    text = command.text
    line = _shared.read_line(text)
    listed = line.option("-pin", "-c", "-C")
    if listed is None:
        raise ValueError(f"cannot find -c or -pin in {text!r}; try likwid-pin -c N:0-3 PROGRAM")
    request = parse_place(listed if not listed.isdigit() else f"cpus={listed}", topology)
    ranks = line.number("-np", "-n") or len(request.cpus)
    notes = []
    if ranks != len(request.cpus):
        notes.append(f"{len(request.cpus)} lists for {ranks} ranks: the lists are assigned again from the first")
        lists = tuple(request.cpus[rank % len(request.cpus)] for rank in range(ranks))
        request = Request(**{**vars(request), "ranks": ranks, "cpus": lists})
    used = set_text(frozenset(cpu for cpus in request.cpus for cpu in cpus))
    return _shared.reading_of_request(request, topology, (*notes, f"pinned one thread each to {used}"))


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Refuse `likwid-mpirun`: nothing can be put in front of its program.

    By its source (`likwid-mpirun.lua`) it passes every word behind `--`, wherever that is, to the MPI library, joins
    the words of the program without quotation marks, and puts likwid-pin in front of them.

    Raises:
        ValueError: always.
    """
    raise ValueError(
        "it starts the program in a script of its own, with likwid-pin, and reads -- in the program's words"
    )
