"""Cray: PALS mpiexec and ALPS aprun take one list of hardware threads per rank."""

from octant.launchers import JobSize, Syntax, _shared
from octant.machine import Topology
from octant.placement import Placement, set_text
from octant.placement.request import Request

TITLE = "Cray (PALS mpiexec, ALPS aprun)"
NAMES = {"mpiexec": "pals"}
VERSION = ("PALS",)
PMI = ""
SPINS = True


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """One list per rank, separated by colons."""
    sets = _shared.rank_sets(placement)
    listed = ":".join(set_text(held) for held in sets)
    ranks, depth = len(sets), request.threads
    asked = _shared.plain(placement, request, topology)
    strict = " -ss" if request.memory.policy == "bind" and not request.memory.nodes else ""
    lines = [
        *_shared.openmp_line(request),
        *_shared.heap_line(request),
        f"mpiexec -n {ranks} --ppn {ranks} --cpu-bind list:{listed} {_shared.PROGRAM}",
        f"aprun -n {ranks} -N {ranks} -d {depth} -cc {listed}{strict} {_shared.PROGRAM}",
    ]
    if not asked.cpus and asked.order == "compact" and asked.smt == 1 and asked.unit == "core":
        lines.append(
            f"# with named options, by the manual: mpiexec -n {ranks} -d {depth} --cpu-bind depth {_shared.PROGRAM}"
        )
    cannot = [*_shared.no_threads(placement, "Cray's launcher"), *_shared.no_pages(request)]
    if request.memory.policy in ("interleave", "preferred") or request.memory.nodes:
        cannot.append(
            f"aprun supports strict local memory only: memory={request.memory} needs numactl or PALS --mem-bind"
        )
    return Syntax(tuple(lines), True, tuple(cannot))


def unbound(size: JobSize, root: bool) -> list[str]:
    """PALS binds neither ranks nor memory if it is asked for that."""
    where = ["--hosts", ",".join(size.hosts), "--ppn", size.ranks_per_host] if size.hosts else []
    return ["-n", str(size.ranks), *where, "--cpu-bind", "none", "--mem-bind", "none"]
