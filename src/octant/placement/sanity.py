"""Validity check of placements before they are printed, started or written."""

from collections.abc import Set

from octant.failure import Exit, Refusal
from octant.machine import CpuSet, Topology
from octant.placement import Placement, RankPlacement, numbers_text
from octant.placement.request import PlacementRequest


def may_share(request: PlacementRequest) -> bool:
    """Return whether the request allows ranks to share hardware threads."""
    two_on_a_core = request.unit == "core" and request.smt != 1
    return request.oversubscribe or request.share or bool(request.cpus) or two_on_a_core


def check(placement: Placement, topology: Topology, within: CpuSet, *, shared: bool) -> Placement:
    """Return the placement if its sets are valid on this topology; their type excludes empty sets.

    Args:
        placement: a planned placement, or one read from the options of a launcher.
        topology: topology of one node.
        within: the hardware threads that ranks may use.
        shared: whether ranks of one node may share hardware threads.

    Raises:
        Refusal: a set is not valid; the message states the rank.
    """
    nodes = {node.os for node in topology.numa}
    taken: dict[tuple[int, ...], set[int]] = {}
    for number, place in enumerate(placement.ranks):
        if place.rank != number:
            raise _refused(place, f"it is at position {number} of the placement")
        if not place.cpus <= within:
            raise _refused(place, f"{_subject('hardware thread', place.cpus - within)} not available")
        if not all(bound <= place.cpus for bound in set(place.threads)):
            raise _refused(place, f"a thread is outside of the set {numbers_text(place.cpus)} of its rank")
        if not nodes.issuperset(place.memory):
            raise _refused(place, f"{_subject('NUMA node', set(place.memory) - nodes)} not available")
        used = taken.setdefault(place.coordinates[:-1], set())
        if not shared and not used.isdisjoint(place.cpus):
            raise _refused(place, f"{_subject('hardware thread', used & place.cpus)} used by lower ranks")
        used |= place.cpus
    return placement


def _subject(noun: str, numbers: Set[int]) -> str:
    """Return the numbers with their noun and verb: `NUMA node 7 is`, `NUMA nodes 7-8 are`."""
    return f"{noun} {numbers_text(numbers)} is" if len(numbers) == 1 else f"{noun}s {numbers_text(numbers)} are"


def _refused(place: RankPlacement, why: str) -> Refusal:
    return Refusal(
        f"invalid placement of rank {place.rank}: {why}; `octant machine` lists the hardware threads and NUMA nodes; "
        "choose others with --place, as in 1x2,cpus=0+1",
        Exit.NOT_SUPPORTED,
    )
