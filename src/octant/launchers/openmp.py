"""OpenMP: OMP_PLACES and OMP_PROC_BIND for the threads inside each rank."""

from octant.launchers import LauncherReading, Syntax, _command, _openmp, _tables, _writing
from octant.machine import Topology
from octant.placement import Placement
from octant.placement.request import PlacementRequest

TITLE = "OpenMP (any runtime)"
MARK = r"OMP_PLACES|OMP_PROC_BIND"
BINDS = "threads"
OPTIONS: _tables.Table = {}
VARIABLES = _tables.table(_tables.interpreted("OMP_PLACES OMP_PROC_BIND"))


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return one list of places per rank, or named places if the masks of the ranks suffice."""
    if all(len(set(place.threads)) == 1 and len(place.threads) > 1 for place in placement.ranks):
        line = f"export OMP_NUM_THREADS={request.threads} OMP_PROC_BIND=false"
        return Syntax((line,), False, ("OpenMP does not place ranks; the launcher must set their masks",))
    lines = []
    for place in placement.ranks:
        places = ",".join("{" + ",".join(str(cpu) for cpu in sorted(bound)) + "}" for bound in place.threads)
        lines.append(f'export OMP_NUM_THREADS={len(place.threads)} OMP_PROC_BIND=close OMP_PLACES="{places}"')
    cannot = [
        *_writing.memory_remarks(request, "OpenMP (first touch decides)", "numactl"),
        *_writing.page_remarks(request),
    ]
    cannot.append(
        "if a process has a second OpenMP runtime (MKL in a gcc program), all threads run on one hardware "
        "thread; link one runtime only"
    )
    if len(lines) > 1:
        lines += [f"# inside masks that the launcher sets: {line}" for line in _writing.openmp_line(request)]
        cannot.append("OpenMP starts no ranks: use one line per local rank, selected in a wrapper script")
    return Syntax(tuple(lines), True, tuple(cannot))


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read the variables as `_openmp.read` does."""
    return _openmp.read(command, topology)
