"""Open MPI 4.1: the same ideas as 5 in older words; `socket` for `package`, and cyclic ranks by default."""

from octant.machine import Topology
from octant.placement import Placement
from octant.placement.request import Request
from octant.placement.words import Words, _shared, openmpi

TITLE = "Open MPI 4.1"


def to_words(placement: Placement, request: Request, topology: Topology) -> Words:
    """Options for the plain orders, a rank file for the rest."""
    asked = _shared.plain(placement, request, topology)
    sets = _shared.rank_sets(placement)
    cores = max(_shared.cores_each(place, topology) for place in placement.ranks)
    unit = {"l2": "l2cache", "l3": "l3cache", "package": "socket"}.get(asked.unit, asked.unit)
    level = {"package": "socket", "l3": "l3cache"}.get(asked.order.partition(":")[2], asked.order.partition(":")[2])
    files: tuple[tuple[str, str], ...] = ()
    if asked.cpus or asked.order == "scatter" or asked.smt > 1 < cores or asked.kind != "any":
        option = "--rankfile octant.rankfile"
        files = (("octant.rankfile", openmpi.rank_file(sets, topology)),)
        option += " --use-hwthread-cpus"
    elif unit in ("hwthread", "core"):
        where = f"{level}:PE={cores}" if level else f"slot:PE={cores}"
        option = f"--map-by {where} --bind-to core"
        if asked.smt != 1:
            option = f"--use-hwthread-cpus --map-by {level or 'slot'}:PE={len(sets[0])} --bind-to hwthread"
    else:
        option = f"--map-by {unit} --bind-to {unit}"
    cannot = [
        *_shared.no_threads(placement, "Open MPI"),
        *_shared.no_memory(request, "Open MPI 4.1 (hwloc_base_mem_alloc_policy knows local_only at most)"),
        *_shared.no_pages(request),
        "these lines follow the manual of 4.1 and were not compared with a run: check with --report-bindings",
    ]
    lines = (
        *_shared.openmp_line(request),
        *_shared.heap_line(request),
        f"mpirun -n {len(sets)} {option} --report-bindings {_shared.PROGRAM}",
    )
    return Words(lines, bool(files), tuple(cannot), files)
