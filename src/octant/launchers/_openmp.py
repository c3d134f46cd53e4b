"""What the runtimes of OpenMP have in common: threads of one rank, and variables that contradict each other."""

from octant.launchers import Reading
from octant.machine import CpuSet, Topology
from octant.placement import Placement, RankPlace
from octant.placement.recognise import recognise
from octant.placement.remarks import remarks as facts

_VENDORS = ("KMP_AFFINITY", "GOMP_CPU_AFFINITY")


def one_rank(sets: tuple[CpuSet, ...], topology: Topology, notes: list[str]) -> Reading:
    """A reading of the threads of one rank."""
    cpus = frozenset().union(*sets)
    nodes = tuple(node.os for node in topology.numa if node.cpus & cpus)
    ranks = (RankPlace(0, cpus, sets, nodes),)
    if len(set(sets)) < len(sets) and sets[0] != topology.allowed:
        notes.append("several threads are bound to one place and share it")
    request = recognise([cpus], topology, len(sets))
    return Reading(request, Placement(ranks, facts(ranks, topology)), (*notes, *facts(ranks, topology)))


def runtimes(variables: dict[str, str]) -> list[str]:
    """Remarks on variables of several runtimes at once."""
    vendors = [name for name in _VENDORS if name in variables]
    if len(vendors) == 2:
        return [
            "KMP_AFFINITY and GOMP_CPU_AFFINITY are both set: two OpenMP runtimes in one process "
            "(gcc's program with MKL, typically) then put all threads on one CPU; set one, unset the other"
        ]
    if vendors == ["KMP_AFFINITY"] and "OMP_PLACES" in variables:
        return [
            "KMP_AFFINITY overrides OMP_PLACES in Intel's and LLVM's runtime, with a warning at most; set one of them"
        ]
    return []
