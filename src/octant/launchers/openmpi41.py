"""Open MPI 4.1: the options of 5 in an older syntax; `socket` for `package`, slots that continue across packages."""

import itertools

from octant.launchers import Syntax, _rankfile, _shared
from octant.machine import CpuSet, Topology
from octant.placement import Placement
from octant.placement.expressions import objects
from octant.placement.request import Request

TITLE = "Open MPI 4.1"
_UNITS = {"slot": "machine", "l3cache": "l3", "numa": "numa", "socket": "package"}


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """The shortest options that give the masks; a rank file where none do. Compared with runs of 4.1.4."""
    sets = _shared.rank_sets(placement)
    option = next((text for text, masks in _options(sets, topology, request.unit) if masks == sets), None)
    files: tuple[tuple[str, str], ...] = ()
    if option is None:
        option = "--rankfile octant.rankfile --use-hwthread-cpus"
        files = (("octant.rankfile", _rankfile.write(sets, topology)),)
    cannot = [
        *_shared.no_threads(placement, "Open MPI"),
        *_shared.no_memory(request, "Open MPI 4.1 (hwloc_base_mem_alloc_policy supports at most local_only)"),
        *_shared.no_pages(request),
    ]
    if files:
        cannot.append("no option of Open MPI 4.1 gives these masks: a rank file does (its numbers are logical ones)")
    lines = (
        *_shared.openmp_line(request),
        *_shared.heap_line(request),
        f"mpirun -n {len(sets)} {option} --report-bindings {_shared.PROGRAM}",
    )
    return Syntax(lines, True, tuple(cannot), files)


def _options(sets: list[CpuSet], topology: Topology, unit: str) -> list[tuple[str, list[CpuSet]]]:
    cores = max(sum(1 for core in topology.groups("core") if core & held) for held in sets)
    threads = max(map(len, sets))
    units = {name: of for name, of in _UNITS.items() if of != "l3" or any(c.level == 3 for c in topology.caches)}
    parts = [(f"--map-by {name}:PE={cores} --bind-to core", _deal(topology, of, "core", cores, len(sets)))
             for name, of in units.items()]  # fmt: skip
    whole = [(f"--map-by {name} --bind-to {name}", list(objects(topology, of)[: len(sets)]))
             for name, of in units.items() if of != "machine"]  # fmt: skip
    fine = [(f"--use-hwthread-cpus --map-by {name}:PE={threads} --bind-to hwthread",
             _deal(topology, of, "thread", threads, len(sets))) for name, of in units.items()]  # fmt: skip
    return [*whole, *parts, *fine] if unit in ("l3", "numa", "package") else [*parts, *whole, *fine]


def _deal(topology: Topology, domain: str, unit: str, width: int, ranks: int) -> list[CpuSet]:
    """Ranks in turn on the domains, each the next `width` units there, while every domain has room."""
    units = objects(topology, unit)
    free = [[held for held in units if held <= whole] for whole in objects(topology, domain)]
    rounds = min((len(cpus) // width for cpus in free), default=0)
    turns = itertools.product(range(rounds), free)
    return [frozenset().union(*cpus[k * width : (k + 1) * width]) for k, cpus in itertools.islice(turns, ranks)]
