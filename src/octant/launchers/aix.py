"""AIX: execrset and attachrset for processes, MEMORY_AFFINITY and LDR_CNTRL for memory."""

from octant.launchers import Reading, Syntax, _command, _shared
from octant.machine import Topology
from octant.machine.synthetic import parse_cpus
from octant.placement import Placement, set_text
from octant.placement.request import Request

TITLE = "AIX"
READS = ("execrset",)
MARK = r"\bexecrset\b"


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """One resource set per rank, on logical CPU numbers."""
    lines = []
    cannot = [
        *_shared.no_threads(placement, "execrset"),
        "execrset starts no ranks: each line belongs to one local rank, chosen in a wrapper script",
    ]
    if request.memory.policy in ("local", "bind"):
        lines.append("export MEMORY_AFFINITY=MCM")
    elif request.memory.policy == "interleave":
        cannot.append("interleaving over all modules is AIX's default: leave MEMORY_AFFINITY unset")
    elif request.memory.policy == "preferred":
        cannot.append(f"memory={request.memory}: a preferred node cannot be named; execrset -m takes a memory region")
    size = {"4k": "4K", "64k": "64K", "16m": "16M"}.get(request.pages)
    if size:
        lines.append(f"export LDR_CNTRL=DATAPSIZE={size}@TEXTPSIZE={size}@STACKPSIZE={size}@SHMPSIZE={size}")
    elif request.pages != "default":
        cannot.append(f"pages={request.pages}: AIX has 4 KiB, 64 KiB, 16 MiB and 16 GiB")
    if size == "16M":
        cannot.append("16 MiB pages must be reserved first: vmo -o lgpg_regions=N -o lgpg_size=16777216")
    lines += [f"execrset -c {set_text(place.cpus)} -e {_shared.PROGRAM}" for place in placement.ranks]
    return Syntax((*_shared.openmp_line(request), *lines), True, tuple(cannot))


def from_syntax(command: _command.Command, topology: Topology) -> Reading:
    """One rank a line."""
    text = command.text
    sets = []
    for row in text.splitlines():
        line = _shared.read_line(row)
        listed = line.option("-c") if line.arguments[:1] == ["execrset"] else None
        if listed is not None:
            sets.append(parse_cpus(listed))
    if not sets:
        raise ValueError(f"cannot find 'execrset -c LIST -e PROGRAM' in {text!r}")
    return _shared.reading_of_masks(sets, topology, None)
