"""How PRRTE 3, the runtime of Open MPI 5, maps ranks to objects of one node, binds them and numbers them.

The order of the steps is that of its `rmaps` framework (`rmaps_base_map_job`, the mappers `round_robin` and `ppr`,
`rmaps_base_binding`, `rmaps_base_ranking`). Compared with records of 5.0.11 on ten machines.
"""

from dataclasses import dataclass, field, replace

from octant.machine import CpuSet, NotKnownError, Topology
from octant.placement.expressions import known_caches, objects

LEVELS = {"none": 1, "package": 2, "numa": 3, "l3cache": 4, "l2cache": 5, "l1cache": 6, "core": 7, "hwthread": 8}
"""The objects from the widest to the narrowest; ranks cannot be bound to wider ones than they are mapped to."""
_UNITS = {"hwthread": "thread", "core": "core", "l1cache": "l1", "l2cache": "l2", "l3cache": "l3", "numa": "numa",
          "package": "package"}  # fmt: skip


class Refused(ValueError):  # noqa: N818 (the launcher's refusal, reported to the user)
    """The launcher stops with an error here."""


@dataclass(frozen=True)
class PrrtePolicy:
    """The policies that options, parameters and variables request; "" and `None` are left to defaults."""

    mapper: str = ""  # slot, node, ppr, pe-list, seq, rankfile, or a name of `LEVELS`
    per: int = 0  # of ppr: ranks for each `unit`
    unit: str = ""
    listed: tuple[str, ...] = ()  # of pe-list: its parts, `2` or `2-5`
    width: int | None = None  # PE=
    hwthreads: bool = False  # CPUs are hardware threads, not cores
    span: bool = False
    ordered: bool = False
    oversubscribe: bool = False
    nolocal: bool = False
    ranker: str = ""
    binder: str = ""
    stated: bool = False  # whether --bind-to says so, and not a parameter
    required: bool = True  # of `binder`: not `if-supported`
    overload: bool = False
    usable: CpuSet | None = None  # of hwloc_default_cpu_list
    slots: int | None = None  # of prte_set_default_slots

    def cpu(self) -> str:
        """Return the name of what counts as one CPU."""
        return "hwthread" if self.hwthreads else "core"


@dataclass
class _Mapper:
    """One node while ranks are mapped to it."""

    topology: Topology
    policy: PrrtePolicy
    binder: str
    slots: int
    free: set[int]
    limit: CpuSet = frozenset()  # the CPUs that the job may use
    target: set[int] = field(default_factory=set)  # those that were free when the current object was chosen
    mapped: list[tuple[int, CpuSet | None]] = field(default_factory=list)  # object and mask, in order of assignment
    queue: list[str] = field(default_factory=list)  # what is left of a pe-list
    known: dict[str, tuple[CpuSet, ...]] = field(default_factory=dict)
    owners: dict[int, int] = field(default_factory=dict)  # index of the CPU of each hardware thread

    def objects(self, level: str) -> tuple[CpuSet, ...]:
        """Return the objects of a level in hwloc's logical order; empty if the machine has none."""
        if level not in self.known:
            self.known[level] = objects_of(self.topology, level)
        return self.known[level]

    def cpus_in(self, held: set[int] | CpuSet) -> list[CpuSet]:
        """Return the CPUs that lie completely in a set of hardware threads."""
        cpus = self.objects(self.policy.cpu())
        if not self.owners:
            self.owners = {thread: at for at, cpu in enumerate(cpus) for thread in cpu}
        return [cpus[at] for at in sorted({self.owners[thread] for thread in held}) if cpus[at] <= held]

    def full(self) -> bool:
        return not self.policy.oversubscribe and self.slots <= len(self.mapped)

    def room(self, quota: int, whole: CpuSet | None) -> int:
        """Return how many of `quota` ranks the object (`None`: the node) can take now, and set the target."""
        if self.full():
            return 0
        self.target = {cpu for cpu in self.free & self.limit if whole is None or cpu in whole}
        if self.binder == "none":
            self.target = set(self.limit)
            return quota
        fitting = len(self.cpus_in(self.target)) // (self.policy.width or 1)
        return quota if quota < fitting or self.policy.overload else fitting

    def add(self, index: int, whole: CpuSet | None) -> None:
        """Bind the next rank, which is mapped to an object (`None`: the node)."""
        mask: CpuSet | None
        if self.policy.mapper == "pe-list":
            mask = None if self.binder == "none" and not self.queue else self.bind_to_list()
        elif self.binder == "none":
            mask = None
        elif (self.policy.width or 1) > 1:
            mask = self.bind_to_several(whole)
        else:
            mask = self.bind_to_object(whole)
        self.mapped.append((index, mask))

    def bind_to_object(self, whole: CpuSet | None) -> CpuSet | None:
        targets = self.objects(self.binder)
        if not targets:
            if self.policy.binder:
                raise Refused(f"Open MPI 5 finds no {self.binder} on this topology")
            return None
        within = self.target if whole is None else self.target & whole
        for held in targets:
            cpus = self.cpus_in(self.free & held & within)
            if cpus:
                self.free -= cpus[0]
                if not self.free and self.policy.overload:
                    self.free = set(self.usable())
                return held
        if self.policy.binder and self.policy.required:
            raise Refused(f"Open MPI 5 finds no CPU left for rank {len(self.mapped)} (--bind-to {self.binder})")
        return None

    def bind_to_several(self, whole: CpuSet | None) -> CpuSet:
        width = self.policy.width or 1
        places = self.objects("package") if whole is None else (whole,)
        for place in places:
            cpus = self.cpus_in(self.free & self.target & place)
            if len(cpus) >= width or (whole is not None and self.policy.mapper != "ppr"):
                held = frozenset().union(*cpus[:width])
                self.free -= held
                self.target -= held
                return held
        raise Refused(
            f"Open MPI 5 refuses: no package has {width} {self.policy.cpu()}s left for rank {len(self.mapped)}"
        )

    def bind_to_list(self) -> CpuSet:
        if not self.queue:
            raise Refused("Open MPI 5 refuses: the pe-list has fewer parts than there are ranks")
        number = int(self.queue.pop(0).partition("-")[0])
        cpus = self.objects(self.policy.cpu())
        if number >= len(cpus):
            raise Refused(f"Open MPI 5 finds no {self.policy.cpu()} {number} on this topology")
        held = cpus[number] if self.policy.ordered else frozenset(self.target)
        if not any(held <= package for package in self.objects("package")):
            raise Refused("Open MPI 5 refuses a pe-list that spans several packages; use :ordered, or a rank file")
        self.free -= cpus[number]
        return held

    def usable(self) -> CpuSet:
        return self.topology.allowed if self.policy.usable is None else self.policy.usable

    def unbind_where_crowded(self, quota: int) -> None:
        """Without --bind-to, more ranks than CPUs are unbound as long as there are slots for them."""
        if len(self.cpus_in(self.free & self.limit)) < quota <= self.slots and not self.policy.binder:
            self.binder = "none"

    def by_node(self, ranks: int) -> None:
        """Map to the node itself: `slot`, `node`, and `pe-list`."""
        kept, begun = self.binder, list(self.policy.listed)
        for again in (False, True):
            self.limit = self.listed() if begun else frozenset(self.free)
            self.queue = list(begun)
            quota = ranks - len(self.mapped) if again or self.policy.mapper == "node" else self.slots
            if begun and not again and (self.policy.ordered or not self.policy.overload):
                quota = len(begun)
            if not self.policy.oversubscribe:
                quota = min(quota, self.slots)
            self.unbind_where_crowded(quota)
            for _ in range(self.room(quota, None)):
                if len(self.mapped) == ranks:
                    return
                self.add(0, None)
                if self.full():
                    break
            if len(self.mapped) == ranks:
                return
            self.binder = kept
            if begun and not self.policy.oversubscribe:
                break
        raise Refused(
            f"Open MPI 5 refuses {ranks} ranks: it can map {len(self.mapped)} of them; reduce the number of ranks"
        )

    def listed(self) -> CpuSet:
        """Return the hardware threads of the pe-list."""
        return logical(self.objects(self.policy.cpu()), self.policy.listed, self.policy.cpu())

    def by_object(self, level: str, ranks: int) -> None:
        """Map to objects round-robin, each as long as it has CPUs left."""
        places = self.objects(level)
        if not places:
            raise Refused(f"Open MPI 5 finds no {level} on this topology")
        while len(self.mapped) < ranks:
            before = len(self.mapped)
            self.limit = frozenset(self.free)
            for index, whole in enumerate(places):
                cpus = len(self.cpus_in(self.free & self.limit & whole))
                if cpus < (self.policy.width or 1) and not self.policy.overload:
                    continue
                if len(self.mapped) < ranks and self.room(1, whole):
                    self.add(index, whole)
            if len(self.mapped) == before:
                raise Refused(
                    f"Open MPI 5 refuses {ranks} ranks: no {level} has {self.policy.width or 1} "
                    f"{self.policy.cpu()}s left for rank {before}"
                )

    def by_ppr(self, ranks: int) -> None:
        """Map `per` ranks to each object, until there are enough."""
        level, per = self.policy.unit, self.policy.per
        places: tuple[CpuSet | None, ...] = (None,) if level == "node" else self.objects(level)
        self.limit = frozenset(self.free)
        self.unbind_where_crowded(per * len(places))
        for index, whole in enumerate(places):
            if len(self.mapped) >= ranks or not self.room(per if level == "node" else per * len(places), whole):
                continue
            fitting = len(self.cpus_in(self.target)) // (self.policy.width or 1)
            if level != "node" and self.binder != "none" and fitting < per:
                continue
            for _ in range(min(per, ranks) if level == "node" else per):
                self.add(index, whole)
                if self.full():
                    break
        if len(self.mapped) < ranks:
            raise Refused(f"Open MPI 5 refuses {ranks} ranks: {per} per {level} are {len(self.mapped)} on this node")
        if len(self.mapped) > ranks:
            raise Refused(
                f"Open MPI 5.0.11 maps {per} ranks on every {level} and ignores -n, then starts none of the "
                f"{ranks} ranks and still exits with status 0; use -n {-(-ranks // per) * per}"
            )


def objects_of(topology: Topology, level: str) -> tuple[CpuSet, ...]:
    """Return the objects of a level in hwloc's logical order; empty if the machine has none."""
    if level.startswith("l") and all(cache.level != int(level[1]) for cache in known_caches(topology)):
        return ()
    return objects(topology, _UNITS[level])


def has_objects(topology: Topology, level: str) -> bool:
    """Return whether the machine is known to have objects of a level."""
    try:
        return bool(objects_of(topology, level))
    except NotKnownError:
        return False


def logical(cpus: tuple[CpuSet, ...], parts: tuple[str, ...], what: str) -> CpuSet:
    """Return the hardware threads of CPUs by logical numbers: `2`, `2-5`.

    Raises:
        ValueError: there is no CPU of such a number.
    """
    held: CpuSet = frozenset()
    for part in parts:
        first, _, last = part.partition("-")
        for number in range(int(first), int(last or first) + 1):
            if number >= len(cpus):
                raise ValueError(
                    f"cannot use {what} {number} of a list: the last one on this topology is {len(cpus) - 1}"
                )
            held |= cpus[number]
    return held


def place(topology: Topology, policy: PrrtePolicy, ranks: int | None) -> list[CpuSet | None]:
    """Return the mask of each rank; `None`: unbound.

    Args:
        topology: of the node.
        policy: what was asked for.
        ranks: their number; `None`: as many as Open MPI 5 starts.

    Raises:
        Refused: Open MPI 5 stops with an error.
    """
    policy = replace(policy, mapper=policy.mapper or _default_mapper(policy))
    slots = len(objects_of(topology, "core")) if policy.slots is None else policy.slots
    count = ranks or _default_ranks(topology, policy, slots)
    _check_mapper(policy)
    ranker = policy.ranker or _default_ranker(policy)
    binder = policy.binder or _default_binder(policy, count)
    policy, binder = _check_binder(policy, binder)
    if policy.nolocal:
        raise Refused("Open MPI 5 refuses --nolocal (NOLOCAL) on one node, because no node is left; remove it")
    if slots < count:
        if not policy.oversubscribe:
            raise Refused(
                f"Open MPI 5 refuses {count} ranks: there are {slots} slots (one per core); allow oversubscription"
            )
        binder = policy.binder or "none"
    usable = topology.allowed if policy.usable is None else policy.usable
    mapper = _Mapper(topology, policy, binder, slots, set(usable))
    if policy.mapper == "ppr":
        mapper.by_ppr(count)
    elif policy.mapper in ("slot", "node", "pe-list"):
        mapper.by_node(count)
    else:
        mapper.by_object(policy.mapper, count)
    return _ranked(mapper.mapped, ranker)


def _default_mapper(policy: PrrtePolicy) -> str:
    if (policy.width or 1) > 1:
        return "slot"
    if policy.binder:
        return "slot" if policy.binder == "none" else policy.binder
    return policy.cpu()


def _default_ranks(topology: Topology, policy: PrrtePolicy, slots: int) -> int:
    if policy.mapper == "ppr":
        return policy.per * (1 if policy.unit == "node" else len(objects_of(topology, policy.unit)))
    if policy.mapper == "pe-list":
        return len(policy.listed)
    if (policy.width or 1) > 1:
        return max(1, min(len(objects_of(topology, policy.cpu())) // (policy.width or 1), slots))
    return slots


def _check_mapper(policy: PrrtePolicy) -> None:
    wide = (policy.width or 1) > 1
    if wide and (policy.mapper == "hwthread" or (policy.mapper == "core" and not policy.hwthreads)):
        raise Refused(f"Open MPI 5 refuses {policy.mapper}:PE={policy.width}; use slot:PE={policy.width}")
    if (policy.ranker or _default_ranker(policy)) in ("fill", "span") and (
        policy.mapper in ("slot", "node", "pe-list") or (policy.mapper == "ppr" and policy.unit == "node")
    ):
        raise Refused(f"Open MPI 5 refuses to rank by {policy.ranker or 'span'} with {policy.mapper}; use package")


def _default_ranker(policy: PrrtePolicy) -> str:
    if policy.mapper in ("slot", "node"):
        return "slot"
    if policy.span:
        return "span"
    return "fill" if policy.mapper in LEVELS else "slot"


def _default_binder(policy: PrrtePolicy, ranks: int) -> str:
    if policy.oversubscribe:
        return "none"
    if policy.width is not None or policy.mapper == "pe-list":
        return policy.cpu()
    level = policy.unit if policy.mapper == "ppr" else policy.mapper
    if level in LEVELS:
        return level
    return policy.cpu() if ranks <= 2 else "numa"


def _check_binder(policy: PrrtePolicy, binder: str) -> tuple[PrrtePolicy, str]:
    """Refuse what PRRTE refuses; PE= and ORDERED need CPUs, and --bind-to then decides which CPUs."""
    level = policy.unit if policy.mapper == "ppr" else policy.mapper
    if binder != "none" and LEVELS.get(level, 1) > LEVELS[binder]:
        raise Refused(
            f"Open MPI 5 refuses --bind-to {binder} with --map-by {level}: the object to bind to must be inside the "
            "object to map by"
        )
    several = (policy.width or 1) > 1 or policy.ordered
    narrow = policy.width is not None or policy.mapper == "pe-list"
    if ((narrow and policy.stated) or (several and policy.binder)) and binder not in ("core", "hwthread"):
        raise Refused(f"Open MPI 5 refuses PE=, pe-list and ORDERED with --bind-to {binder}; use --bind-to core")
    if several:
        if not policy.binder:
            cpu = policy.cpu() if (policy.width or 1) > 1 else ""
            return replace(policy, binder=cpu), cpu or binder
        return replace(policy, hwthreads=binder == "hwthread"), binder
    return policy, binder


def _ranked(mapped: list[tuple[int, CpuSet | None]], ranker: str) -> list[CpuSet | None]:
    """Return masks by rank: in order of assignment, object by object (`fill`), or round-robin (`span`)."""
    if ranker == "fill":
        return [mask for _index, mask in sorted(mapped, key=lambda one: one[0])]
    if ranker == "span":
        seen: dict[int, int] = {}
        rounds = []
        for index, mask in mapped:
            seen[index] = seen.get(index, -1) + 1
            rounds.append((seen[index], index, mask))
        return [mask for _round, _index, mask in sorted(rounds, key=lambda one: one[:2])]
    return [mask for _index, mask in mapped]
