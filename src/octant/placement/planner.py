"""Planner: maps ranks and threads of a request to hardware threads and NUMA nodes of a topology."""

import functools
import heapq
import itertools
import math
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from octant.machine import Cpu, CpuSet, NumaNode, PageSize, Topology
from octant.placement import Placement, RankPlacement, numbers_text
from octant.placement.remarks import remarks
from octant.placement.request import PAGE_BYTES, SMT_ALL, Memory, PlacementRequest
from octant.placement.sanity import check, may_share
from octant.placement.torus import coordinates
from octant.units import bytes_text

_SCATTER = ("package", "numa", "l3")


class DoesNotFitError(ValueError):
    """A request that does not fit on the machine. `largest` is the nearest request that fits, or `None`."""

    def __init__(self, reason: str, largest: PlacementRequest | None) -> None:
        self.reason, self.largest = reason, largest
        hint = f"the largest request that fits is {largest}" if largest else "no similar request fits"
        super().__init__(f"{reason}; {hint}")


@dataclass(frozen=True)
class _Slot:
    """A slot for one thread: the hardware thread that it occupies and the set to which the thread is bound."""

    cpu: Cpu
    bound: CpuSet


def plan(topology: Topology, request: PlacementRequest, page_sizes: Sequence[PageSize] | None = None) -> Placement:
    """Return the placement of each rank and thread of the request, with remarks on unexpected properties.

    `page_sizes` are those of the machine; if they are `None`, pages are not checked.

    Raises:
        DoesNotFit: too many ranks or threads, or a unit, NUMA node or page size that the machine does not have.
    """
    try:
        return plan_or_suggest(topology, request, page_sizes)
    except DoesNotFitError as refusal:
        fits = _fitting(topology, refusal.largest, page_sizes) if refusal.largest else None
        if fits == refusal.largest:
            raise
        raise DoesNotFitError(refusal.reason, fits) from None


def plan_or_suggest(
    topology: Topology, request: PlacementRequest, page_sizes: Sequence[PageSize] | None = None
) -> Placement:
    """Return the placement as `plan` does, but do not verify the request that a refusal suggests."""
    _check_memory(topology, request)
    _check_cores(topology, request)
    _check_caches(topology, request)
    if page_sizes is not None:
        _check_pages(request, page_sizes)
    if request.cpus:
        threads = _explicit(topology, request)
    elif request.torus:
        return _on_torus(topology, request)
    elif request.unit in ("hwthread", "core"):
        threads = _by_slots(topology, request)
    else:
        threads = _by_units(topology, request)
    return _finish(topology, request, threads)


def _finish(
    topology: Topology,
    request: PlacementRequest,
    threads: list[tuple[CpuSet, ...]],
    places: Sequence[tuple[int, ...]] | None = None,
) -> Placement:
    ranks = []
    home = local_nodes(topology)
    for rank, sets in enumerate(threads):
        memory = _memory(topology, request, rank, frozenset().union(*sets), home)
        ranks.append(RankPlacement.of_threads(rank, sets, memory, places[rank] if places else ()))
    notes = (*remarks(tuple(ranks), topology), *_partly_bound(ranks, request, home))
    if request.near == "adapter":
        notes = (
            *notes,
            "near=adapter is ignored: the topology has no network adapters",
        )
    if request.order == "scatter" and topology.caches is None:
        notes = (*notes, "caches are not known: ranks are scattered over packages and NUMA domains only")
    level = request.unit[1:] if request.unit in ("l2", "l3") else ""
    having = frozenset().union(*(cache.cpus for cache in topology.data_caches(int(level)))) if level else frozenset()
    if level and not having:
        notes = (*notes, f"this topology has no L{level} cache: each rank gets the next smaller unit")
    elif level and not having >= {cpu.os for cpu in topology.cpus}:
        partial = f"only hardware threads {numbers_text(having)} have an L{level} cache"
        notes = (*notes, f"{partial}: each rank gets the next smaller unit")
    return check(Placement(tuple(ranks), notes), topology, topology.allowed, shared=may_share(request))


@functools.lru_cache(maxsize=64)
def ordered_cores(topology: Topology, kind: str = "any") -> tuple[tuple[Cpu, ...], ...]:
    """Return the usable cores, each as its usable hardware threads, in the order of the topology.

    Operating systems may number sockets alternately or siblings far apart; this order is by package, NUMA domain and
    caches.
    """
    position: dict[tuple[str, int], int] = {}
    units = ("package", "numa", "l3", "l2") if topology.caches is not None else ("package", "numa")
    for unit in units:
        for index, group in enumerate(topology.groups(unit)):
            position |= {(unit, cpu): index for cpu in group}
    cores: dict[int, list[Cpu]] = {}
    for cpu in topology.usable():
        if kind == "any" or cpu.kind in (kind, ""):
            cores.setdefault(cpu.core, []).append(cpu)

    def key(core: tuple[Cpu, ...]) -> tuple[int, ...]:
        first = core[0].os
        beyond = len(topology.cpus)  # hardware threads in no group of a unit are last
        return (*(position.get((unit, first), beyond) for unit in units), first)

    return tuple(sorted((tuple(core) for core in cores.values()), key=key))


def slots(topology: Topology, request: PlacementRequest) -> list[_Slot]:
    """Return the slots for threads, in compact order."""
    found = []
    for core in ordered_cores(topology, request.kind):
        whole = frozenset(cpu.os for cpu in core)
        used = core[: request.smt or len(core)]
        found += [_Slot(cpu, whole if request.unit == "core" else frozenset({cpu.os})) for cpu in used]
    return found


def _by_slots(topology: Topology, request: PlacementRequest) -> list[tuple[CpuSet, ...]]:
    free, size = slots(topology, request), request.threads
    need = request.ranks * size
    if need > len(free) and not (request.oversubscribe and free):
        raise DoesNotFitError(_too_many(topology, request, len(free)), _largest_slots(request, len(free)))
    if request.order == "compact" or size > len(free):  # a rank with more threads than slots uses all of them
        free = free * -(-need // len(free))
        return [tuple(s.bound for s in free[r * size : (r + 1) * size]) for r in range(request.ranks)]
    # With oversubscription, the placement of the ranks that fit is repeated.
    fitting = _scatter(topology, replace(request, ranks=min(request.ranks, len(free) // size)), free)
    return list(itertools.islice(itertools.cycle(fitting), request.ranks))


def _too_many(topology: Topology, request: PlacementRequest, places: int) -> str:
    cores = len(ordered_cores(topology, request.kind))
    kind = "" if request.kind == "any" else f"{request.kind} "
    smt = "all" if request.smt == SMT_ALL else request.smt
    return (
        f"cannot place {request.ranks} ranks x {request.threads} threads: {cores} {kind}cores are usable, "
        f"with {places} slots at smt={smt}"
    )


def _largest_slots(request: PlacementRequest, places: int) -> PlacementRequest | None:
    if not places:
        return None
    if request.threads <= places:
        return replace(request, ranks=places // request.threads)
    return replace(request, ranks=1, threads=places)


def _levels(topology: Topology, request: PlacementRequest) -> tuple[str, ...]:
    """Return the levels over which ranks are scattered: the requested one, or all known levels."""
    known = _SCATTER if topology.caches is not None else tuple(level for level in _SCATTER if level[0] != "l")
    return (request.order.partition(":")[2],) if ":" in request.order else known


def _paths(topology: Topology, levels: tuple[str, ...]) -> dict[int, tuple[int, ...]]:
    """Return the number of the group of each hardware thread at each level, outermost first.

    Hardware threads that are in no group of a level form an additional group.
    """
    found: dict[int, tuple[int, ...]] = {cpu.os: () for cpu in topology.cpus}
    for level in levels:
        groups = topology.groups(level)
        index_of = {cpu: index for index, group in enumerate(groups) for cpu in group}
        found = {cpu: (*path, index_of.get(cpu, len(groups))) for cpu, path in found.items()}
    return found


class _Balance:
    """Number of ranks on each path of the tree; finds the path with the fewest ranks, level by level.

    All offered paths have the same length. Each group keeps its children in a heap by their counts, so that the time to
    find the next path depends little on the number of groups.
    """

    def __init__(self) -> None:
        self.counts: Counter[tuple[int, ...]] = Counter()
        self.heaps: dict[tuple[int, ...], list[tuple[int, int]]] = {}  # (count, child), the count perhaps too low
        self.offered: Counter[tuple[int, ...]] = Counter()  # offered paths at and below each group

    def offer(self, paths: Iterable[tuple[int, ...]]) -> None:
        """Replace the paths from which `least` chooses."""
        self.offered = Counter(path[:length] for path in paths for length in range(len(path) + 1))
        self.heaps = {}
        for path in self.offered:
            if path:
                self.heaps.setdefault(path[:-1], []).append((self.counts[path], path[-1]))
        for heap in self.heaps.values():
            heapq.heapify(heap)

    def withdraw(self, path: tuple[int, ...]) -> None:
        """Remove a path from those that `least` chooses from."""
        self.offered.subtract(path[:length] for length in range(len(path) + 1))

    def least(self) -> tuple[int, ...] | None:
        """Return the path with the fewest ranks, the first of equal ones; `None` if no path is left."""
        at: tuple[int, ...] = ()
        if not self.offered[at]:
            return None
        while heap := self.heaps.get(at):
            count, child = heap[0]
            below = (*at, child)
            if not self.offered[below]:
                heapq.heappop(heap)
            elif count < self.counts[below]:
                heapq.heapreplace(heap, (self.counts[below], child))
            else:
                at = below
        return at

    def add(self, path: tuple[int, ...]) -> None:
        """Count one more rank on a path."""
        self.counts.update(path[: i + 1] for i in range(len(path)))


def _scatter(topology: Topology, request: PlacementRequest, free: list[_Slot]) -> list[tuple[CpuSet, ...]]:
    """Place each rank in the domain with the fewest ranks that has room for it, or else in a wider domain."""
    levels = _levels(topology, request)
    paths = _paths(topology, levels)
    domains: dict[tuple[int, ...], list[_Slot]] = {}
    for slot in free:
        domains.setdefault(paths[slot.cpu.os], []).append(slot)
    balance = _Balance()
    found: list[tuple[CpuSet, ...]] = []
    for depth in range(len(levels), -1, -1):  # room only shrinks: a depth without room stays without room
        room: dict[tuple[int, ...], deque[_Slot]] = {}
        for path, held in domains.items():
            room.setdefault(path[:depth], deque()).extend(held)
        balance.offer(path for path, held in room.items() if len(held) >= request.threads)
        while len(found) < request.ranks and (chosen := balance.least()) is not None:
            taken = [room[chosen].popleft() for _ in range(request.threads)]
            for slot in taken:
                domains[paths[slot.cpu.os]].remove(slot)
            balance.add(paths[taken[0].cpu.os])
            if len(room[chosen]) < request.threads:
                balance.withdraw(chosen)
            found.append(tuple(slot.bound for slot in taken))
    return found


@dataclass(frozen=True)
class _Block:
    """One or more neighbouring instances of a unit with room for at least one rank."""

    cpus: CpuSet
    first: int
    ranks: int  # capacity


def _blocks(topology: Topology, request: PlacementRequest) -> list[_Block]:
    held = {slot.cpu.os for slot in slots(topology, request)}
    usable = frozenset(c.os for core in ordered_cores(topology, request.kind) for c in core)
    rank_of = {cpu.os: i for i, core in enumerate(ordered_cores(topology, request.kind)) for cpu in core}
    instances = [group & usable for group in topology.groups(request.unit) if group & usable]
    instances.sort(key=lambda group: min(rank_of[cpu] for cpu in group))
    found: list[_Block] = []
    gathered: frozenset[int] = frozenset()
    for group in instances:
        gathered |= group
        places = len(gathered & held)
        if places >= request.threads:
            first = min(gathered, key=lambda cpu: (rank_of[cpu], cpu))
            found.append(_Block(gathered, first, places // request.threads if request.share else 1))
            gathered = frozenset()
    return found


def _by_units(topology: Topology, request: PlacementRequest) -> list[tuple[CpuSet, ...]]:
    blocks = _blocks(topology, request)
    capacity = sum(block.ranks for block in blocks)
    if request.ranks > capacity and not (request.oversubscribe and blocks):
        raise DoesNotFitError(_too_few_units(topology, request), _largest_units(topology, request, capacity))
    paths = _paths(topology, _levels(topology, request)) if request.order != "compact" else {}
    order = _round_robin_blocks(blocks, paths) if paths else [block for block in blocks for _ in range(block.ranks)]
    return [(block.cpus,) * request.threads for block in itertools.islice(itertools.cycle(order), request.ranks)]


def _round_robin_blocks(blocks: list[_Block], paths: dict[int, tuple[int, ...]]) -> list[_Block]:
    """Return blocks in round-robin order over the domains."""
    left = {(*paths[block.first], index): block.ranks for index, block in enumerate(blocks)}
    balance, order = _Balance(), []
    balance.offer(left)
    while (chosen := balance.least()) is not None:
        balance.add(chosen)
        order.append(blocks[chosen[-1]])
        left[chosen] -= 1
        if not left[chosen]:
            balance.withdraw(chosen)
    return order


def _too_few_units(topology: Topology, request: PlacementRequest) -> str:
    count = len([g for g in topology.groups(request.unit) if g & topology.allowed])
    hint = "" if request.share else ", one rank each; share=yes allows ranks to share them"
    unit = {"l2": "L2 caches", "l3": "L3 caches", "numa": "NUMA domains"}.get(request.unit, f"{request.unit}s")
    return f"cannot place {request.ranks} ranks x {request.threads} threads by {unit}: there are {count}{hint}"


def _largest_units(topology: Topology, request: PlacementRequest, capacity: int) -> PlacementRequest | None:
    if capacity:
        return replace(request, ranks=capacity)
    places = len(slots(topology, request))
    return replace(request, ranks=1, threads=places) if places else None


def _explicit(topology: Topology, request: PlacementRequest) -> list[tuple[CpuSet, ...]]:
    found = []
    for rank, cpus in enumerate(request.cpus):
        outside = frozenset(cpus) - topology.allowed
        if outside:
            raise DoesNotFitError(
                f"cannot place rank {rank} on hardware threads {numbers_text(outside)}: this job may use "
                f"{numbers_text(topology.allowed)}",
                None,
            )
        size = len(cpus) // request.threads
        if not size and not request.oversubscribe:
            raise DoesNotFitError(
                f"cannot place {request.threads} threads of rank {rank} on {len(cpus)} hardware threads",
                replace(request, threads=min(len(c) for c in request.cpus)),
            )
        if not size:
            found.append(tuple(frozenset({cpus[t % len(cpus)]}) for t in range(request.threads)))
            continue
        sets = [cpus[t * size : (t + 1) * size] for t in range(request.threads)]
        sets[-1] = cpus[(request.threads - 1) * size :]
        found.append(tuple(frozenset(part) for part in sets))
    return found


def _on_torus(topology: Topology, request: PlacementRequest) -> Placement:
    """Return the placement on a torus of equal nodes; the last coordinate of a rank is its slot, in compact order."""
    local = replace(request, torus=(), map=(), map_file="", order="compact")
    per_node = len(slots(topology, local)) // request.threads
    if not per_node:
        raise DoesNotFitError(_too_many(topology, request, len(slots(topology, local))), None)
    shape = (*request.torus, per_node)
    most = math.prod(shape)
    if request.map:
        places = list(request.map[: request.ranks])
        wrong = next((rank for rank, place in enumerate(places) if place[-1] >= per_node), None)
        if wrong is not None:
            fit = sum(1 for _ in itertools.takewhile(lambda place: place[-1] < per_node, request.map))
            raise DoesNotFitError(
                f"cannot place rank {wrong} of the map in slot {places[wrong][-1]}: a node has {per_node} slots for "
                f"ranks with {request.threads} threads",
                replace(request, ranks=fit) if fit else None,
            )
    elif request.ranks > most:
        size = "x".join(str(n) for n in shape)
        raise DoesNotFitError(
            f"cannot map {request.ranks} ranks on {size} slots; at most {most} ranks fit", replace(request, ranks=most)
        )
    else:
        places = coordinates(request.order, shape, request.ranks)
    node = plan(topology, replace(local, ranks=max(place[-1] for place in places) + 1))
    return _finish(topology, request, [node.ranks[place[-1]].threads for place in places], places)


def _check_memory(topology: Topology, request: PlacementRequest) -> None:
    if not topology.numa and request.memory.policy not in ("default", "local"):
        why = "the system does not state NUMA nodes"
        raise DoesNotFitError(f"cannot use memory={request.memory}: {why}", replace(request, memory=Memory()))
    known = {node.os for node in topology.numa}
    missing = set(request.memory.nodes) - known
    if missing:
        raise DoesNotFitError(
            f"cannot use NUMA node {numbers_text(missing)}: this machine has {numbers_text(known)}",
            None,
        )
    forbidden = set(request.memory.nodes) & topology.forbidden_nodes()
    if forbidden:
        usable = numbers_text(node.os for node in topology.usable_nodes())
        raise DoesNotFitError(f"cannot use NUMA node {numbers_text(forbidden)}: this job may use {usable}", None)
    empty = set(request.memory.nodes) - {node.os for node in topology.usable_nodes()}
    if empty:
        raise DoesNotFitError(f"cannot use NUMA node {numbers_text(empty)}: it has no memory", None)


def _check_cores(topology: Topology, request: PlacementRequest) -> None:
    """Refuse more hardware threads per core than exist, and kinds of cores that do not exist or are not known."""
    if request.cpus:
        return
    if request.smt > topology.smt():
        most = "1 hardware thread" if topology.smt() == 1 else f"at most {topology.smt()} hardware threads"
        raise DoesNotFitError(
            f"cannot use {request.smt} hardware threads per core: a core has {most}",
            replace(request, smt=topology.smt()),
        )
    if request.kind != "any" and (topology.kinds is None or any(kind.rank is None for kind in topology.kinds)):
        why = "contradict each other or the cores" if topology.kinds is None else "are not ranked"
        why = "are not known; install hwloc" if topology.caches is None else why
        raise DoesNotFitError(f"cannot select {request.kind} cores: kinds of cores {why}", replace(request, kind="any"))
    if request.kind == "efficiency" and not any(cpu.kind == "efficiency" for cpu in topology.cpus):
        raise DoesNotFitError("this machine has no efficiency cores", replace(request, kind="any"))


def _check_caches(topology: Topology, request: PlacementRequest) -> None:
    """Refuse units and orders by caches if the hardware threads that share a cache are not known."""
    if topology.caches is not None or request.cpus:
        return
    setting = f"unit={request.unit}" if request.unit in ("l2", "l3") else f"order={request.order}"
    if request.unit in ("l2", "l3") or request.order in ("scatter:l2", "scatter:l3"):
        plain = replace(
            request,
            unit="core" if request.unit in ("l2", "l3") else request.unit,
            order="scatter" if request.order in ("scatter:l2", "scatter:l3") else request.order,
        )
        why = "caches are not known; `octant machine` states the reason"
        raise DoesNotFitError(f"cannot use {setting}: {why}", plain)


def _fitting(
    topology: Topology, request: PlacementRequest, page_sizes: Sequence[PageSize] | None = None
) -> PlacementRequest | None:
    """Return the request if it fits, else the largest similar request that fits."""
    tried: list[PlacementRequest] = []
    while request not in tried:
        tried.append(request)
        try:
            plan_or_suggest(topology, request, page_sizes)
        except DoesNotFitError as refusal:
            if refusal.largest is None:
                return None
            request = refusal.largest
        else:
            return request
    return None


def _check_pages(request: PlacementRequest, page_sizes: Sequence[PageSize]) -> None:
    size = PAGE_BYTES.get(request.pages)
    if size is not None and size not in [page.size_bytes for page in page_sizes]:
        known = ", ".join(bytes_text(page.size_bytes) for page in page_sizes)
        raise DoesNotFitError(
            f"cannot use pages of {bytes_text(size)}: the system supports {known}",
            replace(request, pages="default"),
        )


def _memory(
    topology: Topology, request: PlacementRequest, rank: int, cpus: CpuSet, home: Mapping[int, int]
) -> tuple[int, ...]:
    """Return the NUMA nodes of a rank: the requested ones, all nodes for interleave, or those of its threads.

    Raises:
        DoesNotFit: the policy requires nodes, and none is known.
    """
    if request.memory.nodes:
        return request.memory.nodes
    policy = request.memory.policy
    found = tuple(sorted({home[cpu] for cpu in cpus if cpu in home}))
    if policy in ("default", "local") or (found and policy != "interleave"):
        return found
    every = tuple(node.os for node in topology.usable_nodes())
    if every and policy == "interleave":
        return every
    stated = Memory("bind", every) if every and policy == "bind" else Memory()
    raise DoesNotFitError(
        f"cannot use memory={request.memory} for rank {rank}: the local NUMA node of its hardware threads "
        f"{numbers_text(cpus)} is not known",
        replace(request, memory=stated),
    )


def _partly_bound(ranks: Sequence[RankPlacement], request: PlacementRequest, home: Mapping[int, int]) -> list[str]:
    """Return remarks on ranks that are bound to the local memory of only some of their hardware threads."""
    if request.memory != Memory("bind"):
        return []
    return [
        f"rank {place.rank}: memory bound to NUMA nodes {numbers_text(place.memory)}; hardware threads "
        f"{numbers_text(without)} have no known local NUMA node"
        for place in ranks
        if (without := place.cpus - home.keys())
    ]


def local_nodes(topology: Topology) -> dict[int, int]:
    """Return the NUMA node that each hardware thread allocates from: the local one, or the nearest with memory.

    Hardware threads without a known node are omitted, and so are those of nodes with neither memory nor distances.
    """
    filled = {node.os: node for node in topology.usable_nodes()}
    nearest = {node.os: node.os if node.os in filled else _nearest(node, filled, topology) for node in topology.numa}
    of_thread = ((cpu.os, None if cpu.numa is None else nearest.get(cpu.numa)) for cpu in topology.cpus)
    return {cpu: found for cpu, found in of_thread if found is not None}


def _nearest(node: NumaNode, filled: Mapping[int, NumaNode], topology: Topology) -> int | None:
    if len(node.distances) != len(topology.numa):
        return None
    far = dict(zip((n.os for n in topology.numa), node.distances, strict=True))
    return min(filled, key=lambda other: (far[other], other))
