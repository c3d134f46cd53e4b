"""The values of the roles `write` and `read`, and readings of requests and of masks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from octant.machine import CpuSet, Topology
from octant.placement import Placement, RankPlacement
from octant.placement.planner import DoesNotFitError, plan
from octant.placement.recognise import recognise
from octant.placement.remarks import remarks as facts
from octant.placement.request import MAX_NODE_THREADS, Memory, PlacementRequest

DOCUMENTED = "the rules of this launcher are from its documentation; they were not compared with the launcher itself"
ACCUMULATES = "LoadLeveler's default accumulates tasks on one MCM and leaves the others idle; add mcm_distribute"


@dataclass(frozen=True)
class Syntax:
    """Lines that request a placement from a launcher. `exact`: they give exactly the masks that Octant planned."""

    lines: tuple[str, ...]
    exact: bool
    cannot: tuple[str, ...] = ()  # plain statements of what this launcher cannot express
    files: tuple[tuple[str, str], ...] = ()  # (name, content) of files that the lines mention


@dataclass(frozen=True)
class LauncherReading:
    """What a launcher's lines would do: the equivalent request, the placement, and what may be unexpected."""

    request: PlacementRequest
    placement: Placement
    remarks: tuple[str, ...] = ()


def reading_of_request(request: PlacementRequest, topology: Topology, remarks: Sequence[str] = ()) -> LauncherReading:
    """Return a reading whose placement is the plan of a request.

    Raises:
        DoesNotFit: the topology cannot hold it.
    """
    placement = plan(topology, request)
    return LauncherReading(request, placement, (*remarks, *placement.remarks))


def fill_ranks(request: PlacementRequest, topology: Topology) -> tuple[PlacementRequest, tuple[str, ...]]:
    """Return the request with as many ranks as fit, for lines without a number of ranks, and a remark."""
    too_many = max(1, min(len(topology.cpus) + 1, MAX_NODE_THREADS // request.threads))
    try:
        plan(topology, replace(request, ranks=too_many, oversubscribe=False))
    except DoesNotFitError as refusal:
        if refusal.largest is not None:
            ranks = refusal.largest.ranks
            return replace(request, ranks=ranks), (f"no number of ranks given: the maximum of {ranks} is assumed",)
    return request, ()


def reading_of_masks(
    sets: Sequence[CpuSet], topology: Topology, threads: int | None, notes: Sequence[str] = ()
) -> LauncherReading:
    """Return the reading of one mask per rank; an OpenMP runtime is assumed to divide it among threads.

    Raises:
        ValueError: no masks, or too many threads.
    """
    if not sets:
        raise ValueError("cannot interpret these lines (none of them starts a rank); give a complete command line")
    if len(sets) * (threads or 1) > MAX_NODE_THREADS:
        raise ValueError(
            f"cannot place {len(sets)} ranks x {threads or 1} threads on one node (more than {MAX_NODE_THREADS}); "
            "reduce them"
        )
    request = recognise(sets, topology, threads)
    try:
        ranks = plan(topology, request).ranks
    except DoesNotFitError:
        ranks = tuple(
            RankPlacement.of_threads(i, (held,) * (threads or 1), _nodes(held, topology)) for i, held in enumerate(sets)
        )
    return LauncherReading(request, Placement(ranks, facts(ranks, topology)), (*notes, *facts(ranks, topology)))


def add_memory(read: LauncherReading, memories: Sequence[Memory], topology: Topology) -> LauncherReading:
    """Return the reading with a memory policy for each rank."""
    every = tuple(node.os for node in topology.usable_nodes())
    ranks = tuple(
        replace(place, memory=memory.nodes or (every if memory.policy == "interleave" else place.memory))
        for place, memory in zip(read.placement.ranks, memories, strict=True)
    )
    memory = memories[-1]
    own = all(m.nodes == _nodes(place.cpus, topology) for m, place in zip(memories, ranks, strict=True))
    notes: tuple[str, ...] = ()
    if len(set(memories)) > 1:
        if own and {m.policy for m in memories} == {"bind"}:
            memory = Memory("bind")
        else:
            notes = (
                "ranks have different memory policies: the syntax of other launchers uses the policy of the last line",
            )
    request = replace(read.request, memory=memory)
    return LauncherReading(request, replace(read.placement, ranks=ranks), (*notes, *read.remarks))


def _nodes(held: CpuSet, topology: Topology) -> tuple[int, ...]:
    return tuple(node.os for node in topology.numa if node.cpus & held)
