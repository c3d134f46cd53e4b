"""Flux: `flux run` with an explicit map, one set per rank."""

from octant.machine import Topology
from octant.placement import Placement, set_text
from octant.placement.launchers import Syntax, _shared
from octant.placement.request import Request

TITLE = "Flux"


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """The map gives the masks; the plain case has named options as well."""
    asked = _shared.plain(placement, request, topology)
    sets = _shared.rank_sets(placement)
    listed = ";".join(set_text(held) for held in sets)
    cores = max(_shared.cores_each(place, topology) for place in placement.ranks)
    head = f"flux run -N1 --exclusive -n {len(sets)} -c {cores}"
    lines = [*_shared.openmp_line(request), *_shared.heap_line(request)]
    lines.append(f"{head} -o cpu-affinity='map:{listed}' {_shared.PROGRAM}")
    if not asked.cpus and asked.order == "compact" and asked.smt == 1:
        lines.append(f"# with named options, by the manual: {head} -o cpu-affinity=per-task {_shared.PROGRAM}")
    cannot = [
        *_shared.no_threads(placement, "Flux"),
        *_shared.no_memory(request, "Flux without the mpibind plugin"),
        *_shared.no_pages(request),
    ]
    return Syntax(tuple(lines), True, tuple(cannot))
