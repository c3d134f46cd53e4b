"""AIX: execrset and attachrset for processes, MEMORY_AFFINITY and LDR_CNTRL for memory."""

from collections.abc import Sequence

from octant.launchers import LauncherReading, Syntax, _command, _reading, _tables, _words, _writing
from octant.machine import Topology
from octant.machine.cpusets import parse_cpus
from octant.placement import Placement, set_text
from octant.placement.request import PlacementRequest

TITLE = "AIX"
BINDS = "process"
READS = ("execrset",)
OPTIONS = _tables.table(
    _tables.interpreted("c", 1),
    _tables.interpreted("e"),
    _tables.irrelevant("it concerns privileges or the partition", "P F"),
    _tables.not_read("it restricts memory to a region", "m", 1),
    _tables.not_read("it changes the mode of the cores", "S"),
)
"""Options of execrset: from documentation."""
VARIABLES = _tables.table(_tables.irrelevant("it concerns memory only", "MEMORY_AFFINITY LDR_CNTRL"))
MARK = r"\bexecrset\b"


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read options, which have one dash; the program follows -e."""
    return _words.scan(words, OPTIONS, lambda word: (word.removeprefix("-"), None))


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return one resource set per rank, with logical CPU numbers."""
    lines = []
    cannot = [
        *_writing.thread_remarks(placement, "execrset"),
        "execrset starts no ranks: use one line per local rank, selected in a wrapper script",
    ]
    if request.memory.policy in ("local", "bind"):
        lines.append("export MEMORY_AFFINITY=MCM")
    elif request.memory.policy == "interleave":
        cannot.append("interleaving over all modules is the default of AIX; leave MEMORY_AFFINITY unset")
    elif request.memory.policy == "preferred":
        cannot.append(f"memory={request.memory}: AIX has no preferred node; execrset -m accepts a memory region")
    size = {"4k": "4K", "64k": "64K", "16m": "16M"}.get(request.pages)
    if size:
        lines.append(f"export LDR_CNTRL=DATAPSIZE={size}@TEXTPSIZE={size}@STACKPSIZE={size}@SHMPSIZE={size}")
    elif request.pages != "default":
        cannot.append(f"pages={request.pages} is not available: AIX has pages of 4 KiB, 64 KiB, 16 MiB and 16 GiB")
    if size == "16M":
        cannot.append("pages of 16 MiB must be reserved first: vmo -o lgpg_regions=N -o lgpg_size=16777216")
    lines += [f"execrset -c {set_text(place.cpus)} -e {_writing.PROGRAM}" for place in placement.ranks]
    return Syntax((*_writing.openmp_line(request), *lines), True, tuple(cannot))


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """One rank a line."""
    listed = [row.last("c") for row in command.rows]
    if not listed or None in listed:
        raise ValueError(f"cannot find 'execrset -c LIST -e PROGRAM' in {command.text!r}")
    return _reading.reading_of_masks([parse_cpus(one) for one in listed if one], topology, None)
