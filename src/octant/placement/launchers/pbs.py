"""PBS Professional: chunks of a node; binding inside is left to the MPI library."""

from octant.machine import Topology
from octant.placement import Placement
from octant.placement.launchers import Syntax, _shared
from octant.placement.request import Request

TITLE = "PBS Professional"


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """The request for one node; PBS counts what the site configured as CPUs (here: hardware threads used)."""
    ranks = len(placement.ranks)
    used = frozenset().union(*_shared.rank_sets(placement))
    cores = sum(1 for core in topology.groups("core") if core & used)
    per_core = topology.smt() if request.smt == 0 else request.smt
    line = f"#PBS -l select=1:ncpus={cores * per_core}:mpiprocs={ranks}:ompthreads={request.threads}"
    cannot = [
        "PBS chooses and binds nothing inside the node: use the options of the MPI library as well",
        "whether ncpus counts cores or hardware threads is the site's choice (see pbsnodes -av)",
        *_shared.no_memory(request, "PBS"),
        *_shared.no_pages(request),
    ]
    return Syntax((line, "#PBS -l place=scatter:excl"), False, tuple(cannot))
