"""How ORTE, the runtime of Open MPI 4.1, maps ranks to objects of one node, binds them and numbers them.

The order of the steps is that of its launch (`rmaps_base_map_job`, `rmaps_rr_assign`, `rmaps_base_ranking`,
`rmaps_base_binding`). Compared with records of 4.1.4 on ten machines.
"""

import itertools
from dataclasses import dataclass, replace

from octant.launchers._openmpi.prrte import Refused, has_objects, objects_of
from octant.machine import CpuSet, Topology

OBJECTS = ("hwthread", "core", "l1cache", "l2cache", "l3cache", "socket", "numa")


@dataclass(frozen=True)
class OrtePolicy:
    """The policies that options, parameters and variables request; "" and `None` are left to defaults."""

    mapper: str = ""  # slot, node, ppr, or a name of `OBJECTS`
    implied: bool = False  # --map-by names qualifiers only: the mapper is `socket`, and decides no other default
    per: int = 0  # of ppr: ranks for each `unit`
    unit: str = ""
    width: int = 0  # PE=, --cpus-per-proc; 0: not stated
    hwthreads: bool = False  # CPUs are hardware threads, not cores
    oversubscribe: bool = False
    nolocal: bool = False
    ranker: str = ""
    fill: bool = False  # --rank-by OBJECT:FILL
    binder: str = ""  # none, cpu-list, or a name of `OBJECTS`
    overload: bool = False
    listed: CpuSet = frozenset()  # of --cpu-set and --cpu-list
    slots: int | None = None

    def cpu(self) -> str:
        """Return the name of what counts as one CPU."""
        return "hwthread" if self.hwthreads else "core"


def level_of(topology: Topology, name: str) -> tuple[CpuSet, ...]:
    """Return the objects of a name in hwloc's logical order; empty if the machine has none."""
    return objects_of(topology, "package" if name == "socket" else name)


def has_level(topology: Topology, name: str) -> bool:
    """Return whether the machine is known to have objects of a name."""
    return has_objects(topology, "package" if name == "socket" else name)


def place(topology: Topology, policy: OrtePolicy, ranks: int | None) -> list[CpuSet | None]:
    """Return the mask of each rank; `None`: unbound.

    Args:
        topology: of the node.
        policy: what was asked for.
        ranks: their number; `None`: as many as Open MPI 4.1 starts.

    Raises:
        Refused: Open MPI 4.1 stops with an error.
    """
    policy = _checked(policy)
    slots = policy.slots
    if slots is None:
        slots = len(level_of(topology, policy.cpu() if policy.hwthreads else "core"))
    count = ranks or _default_ranks(topology, policy, slots)
    stated = bool(policy.mapper) and not policy.implied
    mapper = policy.mapper or _default_mapper(policy, count)
    binder = policy.binder or _default_binder(policy, mapper, count, stated=stated)
    ranker = policy.ranker or (mapper if stated and mapper in OBJECTS else "slot")
    if policy.nolocal:
        raise Refused("Open MPI 4.1 refuses --nolocal on one node, because no node is left; remove it")
    if count > slots:
        if not policy.oversubscribe:
            raise Refused(
                f"Open MPI 4.1 refuses {count} ranks: there are {slots} slots (one per core); allow oversubscription"
            )
        binder = policy.binder or "none"
    locations, level = _locations(topology, policy, mapper, count)
    order = _order(topology, policy, ranker, locations)
    masks = _bound(topology, policy, binder, level, locations)
    return [masks[at] for at in order]


def _checked(policy: OrtePolicy) -> OrtePolicy:
    """Refuse what ORTE refuses; PE= needs CPUs to bind to, and objects that hold several."""
    if "hwthread" in (policy.mapper, policy.binder):
        policy = replace(policy, hwthreads=True, slots=policy.slots)
    if not policy.width:
        return policy
    if policy.binder not in ("", "none", policy.cpu()):
        raise Refused(f"Open MPI 4.1 refuses PE={policy.width} with --bind-to {policy.binder}; use {policy.cpu()}")
    policy = replace(policy, binder=policy.binder or policy.cpu())
    if policy.width > 1 and (policy.mapper == "hwthread" or (policy.mapper == "core" and not policy.hwthreads)):
        raise Refused(f"Open MPI 4.1 refuses {policy.mapper}:PE={policy.width}; use slot:PE={policy.width}")
    return (
        policy if policy.mapper or policy.width == 1 else replace(policy, mapper="numa", ranker=policy.ranker or "slot")
    )


def _default_ranks(topology: Topology, policy: OrtePolicy, slots: int) -> int:
    if policy.mapper == "ppr" and policy.unit == "node":
        return policy.per
    if policy.mapper == "ppr" and policy.unit == "socket":
        return policy.per * len(level_of(topology, "socket"))
    return slots


def _default_mapper(policy: OrtePolicy, ranks: int) -> str:
    if ranks > 2:
        return "numa"
    return "slot" if policy.width > 1 else policy.cpu()


def _default_binder(policy: OrtePolicy, mapper: str, ranks: int, *, stated: bool) -> str:
    if stated and mapper in OBJECTS:
        return mapper
    return policy.cpu() if ranks <= 2 else "numa"


def _locations(topology: Topology, policy: OrtePolicy, mapper: str, ranks: int) -> tuple[list[CpuSet], str]:
    """Return the object of each process, in the order of assignment, and the level of these objects."""
    whole = frozenset(cpu.os for cpu in topology.cpus)
    if mapper in ("slot", "node"):
        return [whole] * ranks, mapper
    if mapper == "ppr":
        if policy.unit == "node":
            if ranks > policy.per:
                raise Refused(f"Open MPI 4.1 refuses {ranks} ranks: {policy.per} per node are allowed")
            return [whole] * ranks, "node"
        held = [one for one in level_of(topology, policy.unit) for _ in range(policy.per)]
        if ranks > len(held):
            raise Refused(
                f"Open MPI 4.1 refuses {ranks} ranks: {policy.per} per {policy.unit} are {len(held)} on this node"
            )
        return held[:ranks], policy.unit
    places = level_of(topology, mapper)
    if not places:
        return [whole] * ranks, "slot"
    for one in places[:ranks]:
        if policy.width > _cpus(topology, policy, one):
            raise Refused(f"Open MPI 4.1 refuses PE={policy.width} with --map-by {mapper}: one {mapper} has fewer CPUs")
    return [places[rank % len(places)] for rank in range(ranks)], mapper


def _cpus(topology: Topology, policy: OrtePolicy, held: CpuSet) -> int:
    return sum(1 for cpu in level_of(topology, policy.cpu()) if cpu <= held)


def _order(topology: Topology, policy: OrtePolicy, ranker: str, locations: list[CpuSet]) -> list[int]:
    """Return the position of each rank's process: round-robin over the objects of the ranking, or object by object."""
    if ranker not in OBJECTS:
        return list(range(len(locations)))
    places = level_of(topology, ranker)
    if not places:
        if policy.ranker:
            raise Refused(f"Open MPI 4.1 finds no {ranker} on this topology (--rank-by)")
        return list(range(len(locations)))
    left, order = list(range(len(locations))), []
    while left:
        for one in places:
            found = (at for at in list(left) if one & locations[at])
            for at in found if policy.fill else itertools.islice(found, 1):
                order.append(at)
                left.remove(at)
    return order


def _bound(
    topology: Topology, policy: OrtePolicy, binder: str, level: str, locations: list[CpuSet]
) -> list[CpuSet | None]:
    if binder in ("none", "board"):
        return [None] * len(locations)
    if binder == "cpu-list":
        return [policy.listed] * len(locations)
    targets = level_of(topology, binder)
    if not targets:
        raise Refused(f"Open MPI 4.1 finds no {binder} on this topology (--bind-to)")
    room = [_cpus(topology, policy, one) for one in targets]
    taken = [0] * len(targets)
    masks: list[CpuSet | None] = []
    for location in locations:
        if binder == level:
            chosen = _in_place(targets.index(location), room, taken)
        else:
            within = [at for at, one in enumerate(targets) if one & location]
            chosen = min(within, key=lambda at: taken[at])
        held: CpuSet = frozenset()
        cpus, width = 0, policy.width if binder != level else 0
        while not held or cpus < width:
            if chosen >= len(targets):
                raise Refused(f"Open MPI 4.1 does not find {width} {policy.cpu()}s left for rank {len(masks)}")
            taken[chosen] += 1
            if taken[chosen] > room[chosen] and not policy.overload:
                if policy.binder:
                    raise Refused(f"Open MPI 4.1 refuses more ranks than CPUs on one {binder}; use :overload-allowed")
                return [None] * len(locations)
            held |= targets[chosen]
            cpus += room[chosen]
            chosen += 1
        masks.append(held)
    return masks


def _in_place(at: int, room: list[int], taken: list[int]) -> int:
    """Return the object itself, or the next one that has a CPU left: to the right, then to the left."""
    if taken[at] < room[at]:
        return at
    others = [*range(at + 1, len(room)), *range(at - 1, -1, -1)]
    return next((other for other in others if taken[other] < room[other]), at)
