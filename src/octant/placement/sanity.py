"""The check that every placement passes before it is shown, started or written: each set is valid on the machine."""

from octant.failure import Exit, Refusal
from octant.machine import CpuSet, Topology
from octant.placement import Placement, RankPlacement, numbers_text
from octant.placement.request import PlacementRequest


def may_share(request: PlacementRequest) -> bool:
    """Return whether ranks of this request may share hardware threads, because it says so."""
    two_on_a_core = request.unit == "core" and request.smt != 1
    return request.oversubscribe or request.share or bool(request.cpus) or two_on_a_core


def check(placement: Placement, topology: Topology, within: CpuSet, *, shared: bool) -> Placement:
    """Return the placement, if its sets are valid on this topology; that they are not empty is their type.

    Args:
        placement: what was planned, or read from the options of a launcher.
        topology: of one node.
        within: the hardware threads that ranks may have.
        shared: whether ranks of one node may share hardware threads.

    Raises:
        Refusal: a set that is not valid; the message names the rank.
    """
    nodes = {node.os for node in topology.numa}
    taken: dict[tuple[int, ...], set[int]] = {}
    for number, place in enumerate(placement.ranks):
        if place.rank != number:
            raise _refused(place, f"it is number {number} of the placement")
        if not place.cpus <= within:
            raise _refused(place, f"there is no hardware thread {numbers_text(place.cpus - within)} for it")
        if not all(bound <= place.cpus for bound in set(place.threads)):
            raise _refused(place, f"a thread of it is outside of its own set {numbers_text(place.cpus)}")
        if not nodes.issuperset(place.memory):
            raise _refused(place, f"there is no memory node {numbers_text(set(place.memory) - nodes)}")
        used = taken.setdefault(place.coordinates[:-1], set())
        if not shared and not used.isdisjoint(place.cpus):
            raise _refused(place, f"ranks before it have hardware threads {numbers_text(used & place.cpus)}")
        used |= place.cpus
    return placement


def _refused(place: RankPlacement, why: str) -> Refusal:
    return Refusal(
        f"cannot use the placement of rank {place.rank} ({why}); `octant machine` shows the hardware threads and "
        "memory nodes; name others with --place, as in 1x2,cpus=0+1",
        Exit.NOT_SUPPORTED,
    )
