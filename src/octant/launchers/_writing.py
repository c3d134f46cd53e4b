"""Options of a placement that all launchers write, and remarks on what a launcher cannot express."""

from collections.abc import Sequence
from dataclasses import replace

from octant.machine import CpuSet, Topology
from octant.placement import Placement, RankPlacement
from octant.placement.nonempty import NonEmptySet
from octant.placement.recognise import recognise
from octant.placement.request import PlacementRequest

PROGRAM = "PROGRAM"


def rank_sets(placement: Placement) -> list[NonEmptySet]:
    """Return the hardware threads of each rank."""
    return [place.cpus for place in placement.ranks]


def simplify_request(placement: Placement, request: PlacementRequest, topology: Topology) -> PlacementRequest:
    """Return the request without lists if a plain one gives the same masks."""
    if not request.cpus:
        return request
    found = recognise(rank_sets(placement), topology, request.threads)
    return replace(request, unit=found.unit, order=found.order, smt=found.smt, share=found.share, cpus=found.cpus)


def are_whole_cores(sets: Sequence[CpuSet], topology: Topology) -> bool:
    """Return whether each set consists of cores with all their usable threads."""
    cores = [core & topology.allowed for core in topology.groups("core")]
    return all(core <= held for held in sets for core in cores if core & held)


def count_siblings(sets: Sequence[CpuSet], topology: Topology) -> int:
    """Return the largest number of hardware threads of one core in one set."""
    return max((len(core & held) for held in sets for core in topology.groups("core")), default=1)


def count_cores(place: RankPlacement, topology: Topology) -> int:
    """Return the number of cores that a rank touches."""
    return sum(1 for core in topology.groups("core") if core & place.cpus)


def openmp_line(request: PlacementRequest) -> tuple[str, ...]:
    """Return the OpenMP variables for the threads inside a rank, which launchers do not set."""
    if request.threads == 1:
        return ()
    if request.unit not in ("hwthread", "core"):
        return (f"export OMP_NUM_THREADS={request.threads} OMP_PROC_BIND=false",)
    places = {"hwthread": "threads", "core": "cores"}[request.unit]
    return (f"export OMP_NUM_THREADS={request.threads} OMP_PLACES={places} OMP_PROC_BIND=close",)


def heap_line(request: PlacementRequest) -> tuple[str, ...]:
    """Return the line that enables huge pages for the heap of a program (glibc 2.35 or newer)."""
    if request.heap != "huge" and request.pages not in ("thp", "2m"):
        return ()
    return (f"export GLIBC_TUNABLES=glibc.malloc.hugetlb={2 if request.pages == '2m' else 1}",)


def memory_remarks(
    request: PlacementRequest, who: str, alternative: str = "numactl inside the launcher, or octant-bind"
) -> list[str]:
    """Return the remark that a launcher sets no memory policy, if one was requested."""
    if request.memory.policy in ("default", "local"):
        return []
    return [f"{who} sets no memory policy; for memory={request.memory} use {alternative}"]


def page_remarks(request: PlacementRequest) -> list[str]:
    """Return the remark on page sizes that only the program itself or octant-bind can request."""
    requested = [] if request.pages in ("default", "4k", "thp", "2m") else [f"pages={request.pages}"]
    requested += [f"{segment}=huge" for segment in request.huge_segments]
    return (
        [f"{', '.join(requested)} cannot be requested from outside the program; use octant-bind"] if requested else []
    )


def thread_remarks(placement: Placement, who: str) -> list[str]:
    """Return the remark that a launcher binds ranks, not their threads."""
    if all(len(set(place.threads)) <= 1 for place in placement.ranks):
        return []
    return [f"{who} binds ranks, not threads: the OpenMP runtime places the threads inside each rank's mask"]
