"""What a computer is, as data. `discover` is the only probe; everything here is pure.

`None` means that the fact is not known. It never means zero, "none" or "not shared".
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

CpuSet = frozenset[int]
"""Operating-system numbers of hardware threads."""
Number = Annotated[int, Meta(ge=-1, le=10_000_000)]
"""Of a hardware thread, core, package or node; -1: not told."""
Bytes = Annotated[int, Meta(ge=0, le=2**62)]

ASSUMED_CACHED_BYTES = 2**27
"""What caches are assumed to hold at most where no size of them is known: more than those of most processors."""

LAST_CACHE = "last-level cache"
"""The subject of a disagreement about its size."""
CacheKind = Literal["data", "instruction", "unified"]


class NotKnownError(ValueError):
    """A question that needs a fact of the machine which is not known."""


@dataclass(frozen=True)
class Cpu:
    """One hardware thread. Numbers are the operating system's; `core`, `package` and `numa` are machine-wide unique."""

    os: Number
    core: Number
    package: Number
    numa: Number | None  # the node with this thread's nearest memory; `None`: no node holds the thread
    die: Number = 0
    kind: str = ""  # "performance", "efficiency", or "" where all cores are alike: see `classify`


@dataclass(frozen=True)
class Cache:
    """One cache and the hardware threads that share it."""

    level: Annotated[int, Meta(ge=1, le=9)]
    kind: CacheKind
    size_bytes: Bytes | None
    line_bytes: Bytes | None
    cpus: CpuSet  # never empty; a cache whose sharing is not known is left out
    ways: Annotated[int, Meta(ge=1, le=2**31)] | None = None  # places that a line may take


@dataclass(frozen=True)
class NumaNode:
    """One memory node; `cpus` is empty for memory without cores (HBM, CXL)."""

    os: Number
    cpus: CpuSet
    memory_bytes: Bytes | None
    distances: tuple[
        Annotated[int, Meta(ge=0, le=2**31)], ...
    ] = ()  # to each node in order, 10 = local; empty: not known
    kind: str = ""  # hwloc's subtype: "DRAM", "HBM", "MCDRAM", "GPUMemory", …; empty: not stated
    side_caches: tuple[
        Bytes | None, ...
    ] = ()  # bytes of the memory-side caches in front of it, nearest the cores first


@dataclass(frozen=True)
class MemoryAttribute:
    """A stated property of the memory of a node, as the threads of `initiators` see it."""

    name: str  # hwloc's: "Bandwidth", "ReadBandwidth", "Latency", …
    node: Number
    value: float
    unit: str  # "B/s", "s", or "" for attributes that hwloc does not define
    initiators: CpuSet | None = None  # `None`: the value is the same for every thread


@dataclass(frozen=True)
class CpuKind:
    """Hardware threads whose cores are alike."""

    cpus: CpuSet
    rank: Number | None  # ascending performance from 0, as hwloc ranks kinds; `None`: the system does not rank them
    infos: tuple[tuple[str, str], ...] = ()  # hwloc's: "CoreType", "LinuxCapacity", "FrequencyBaseMHz", …


@dataclass(frozen=True)
class PageSize:
    """A page size the system knows and how many such pages its pool holds (`None`: base pages, not pooled)."""

    size_bytes: int
    pool_pages: int | None = None
    free_pages: int | None = None


@dataclass(frozen=True)
class Topology:
    """Packages, NUMA domains, caches, cores and hardware threads.

    `allowed` is what this process may use (affinity mask and cgroup); `cpus` holds all that are online; `complete`
    also those that are offline.
    """

    cpus: Annotated[tuple[Cpu, ...], Meta(min_length=1)]  # sorted by `os`
    caches: tuple[Cache, ...] | None  # `None`: not known, as without libhwloc; empty: the system describes none
    numa: tuple[NumaNode, ...]
    allowed: CpuSet
    complete: CpuSet | None = None
    kinds: tuple[CpuKind, ...] | None = ()  # ascending rank; empty where all cores are alike; `None`: not known
    memory_attributes: tuple[MemoryAttribute, ...] = ()
    allowed_nodes: CpuSet | None = None  # numbers of memory nodes; `None`: all of them, or not stated

    def usable_nodes(self) -> tuple[NumaNode, ...]:
        """The nodes whose memory this process may use; those with memory, if any states its size."""
        nodes = [node for node in self.numa if self.allowed_nodes is None or node.os in self.allowed_nodes]
        return tuple(node for node in nodes if node.memory_bytes) or tuple(nodes)

    def forbidden_nodes(self) -> CpuSet:
        """The nodes whose memory this process may not use; none that is known to have no memory."""
        filled = [node for node in self.numa if node.memory_bytes] or self.numa
        return frozenset(node.os for node in filled) - {node.os for node in self.usable_nodes()}

    def data_caches(self, level: int | None = None) -> tuple[Cache, ...]:
        """The known data and unified caches, of one level or of all; none where caches are not known."""
        return tuple(c for c in self.caches or () if c.kind != "instruction" and level in (None, c.level))

    def usable(self) -> tuple[Cpu, ...]:
        """The hardware threads that this process may use, sorted by number."""
        return tuple(cpu for cpu in self.cpus if cpu.os in self.allowed)

    def usable_cores(self) -> int:
        """How many cores the usable hardware threads are on; at least one."""
        return max(1, len({cpu.core for cpu in self.usable()}))

    def groups(self, unit: str) -> tuple[CpuSet, ...]:
        """All instances of `unit` as sets of hardware threads, ordered by their lowest thread.

        Units: `thread`, `core`, `l1` … `l4` (data or unified caches), `numa`, `die`, `package`, `machine`. A cache
        level that the machine lacks gives the next smaller unit that exists (at least a core). Hardware threads that
        no NUMA node holds are in no group of `numa`.

        Raises:
            ValueError: unknown unit.
            NotKnownError: a cache level where caches are not known.
        """
        keys: dict[str, Callable[[Cpu], object]] = {
            "thread": lambda cpu: cpu.os,
            "core": lambda cpu: cpu.core,
            "numa": lambda cpu: cpu.numa,
            "die": lambda cpu: (cpu.package, cpu.die),
            "package": lambda cpu: cpu.package,
            "machine": lambda _cpu: 0,
        }
        if unit in keys:
            return _group((cpu for cpu in self.cpus if unit != "numa" or cpu.numa is not None), keys[unit])
        if unit[:1] == "l" and unit[1:].isdigit():
            if self.caches is None:
                raise NotKnownError(f"cannot group hardware threads by {unit} (caches are not known); install hwloc")
            for level in range(int(unit[1:]), 0, -1):
                sets = [c.cpus for c in self.data_caches(level)]
                if sets and frozenset().union(*sets) >= {cpu.os for cpu in self.cpus}:
                    return tuple(sorted(sets, key=min))
            return self.groups("core")
        raise ValueError(f"no unit {unit!r}; try {', '.join(keys)} or l1 … l4")

    def smt(self) -> int:
        """Hardware threads of the widest core."""
        return max((len(group) for group in self.groups("core")), default=1)


def _group(cpus: Iterable[Cpu], key: Callable[[Cpu], object]) -> tuple[CpuSet, ...]:
    found: dict[object, set[int]] = {}
    for cpu in cpus:
        found.setdefault(key(cpu), set()).add(cpu.os)
    return tuple(sorted((frozenset(group) for group in found.values()), key=min))


@dataclass(frozen=True)
class Processor:
    """What the processor calls itself and what it can do. Trust `flags` over `model`: hypervisors mask the latter."""

    architecture: str | None  # "x86_64", "aarch64", "ppc64le"
    vendor: str
    model: str
    flags: frozenset[str]
    nominal_hz: Annotated[float, Meta(gt=0, le=1e15)] | None  # stated, not measured


@dataclass(frozen=True)
class Disagreement:
    """Two sources that contradict each other about one fact."""

    subject: str
    statements: tuple[tuple[str, str], ...]  # (source, its statement)
    trusted: str  # which source Octant uses, and why


@dataclass(frozen=True)
class Machine:
    """A computer: the local one (discovered), a recorded one, or a published one."""

    name: str
    topology: Topology
    processor: Processor
    memory_bytes: int | None
    page_sizes: tuple[PageSize, ...]  # without a base page where its size is not known
    system: dict[str, str] = field(default_factory=dict)  # kernel, thp, governor, virtualisation, clock source, …
    software: dict[str, str] = field(default_factory=dict)  # MPI and library versions
    disagreements: tuple[Disagreement, ...] = ()
    measured_cache_bytes: int | None = None  # of all caches together, where a ladder of a run contradicts the system

    def cache_bytes(self, level: int) -> int | None:
        """Size of one data or unified cache of that level; `None` if there is none or no size is known."""
        return max((c.size_bytes for c in self.topology.data_caches(level) if c.size_bytes is not None), default=None)

    def last_level_cache_bytes(self) -> int | None:
        """Size of all last-level caches together; `None` if there is none or a size is not known."""
        last = max((c.level for c in self.topology.data_caches()), default=0)
        sizes = [c.size_bytes for c in self.topology.data_caches(last)]
        known = [size for size in sizes if size is not None]
        return sum(known) if sizes and len(known) == len(sizes) else None

    def cached_bytes(self) -> int | None:
        """What caches hold together: as a ladder showed, else the last-level ones; `None` where neither is known."""
        return self.measured_cache_bytes or self.last_level_cache_bytes()

    def may_be_cached_bytes(self) -> int:
        """The size from which on data counts as not cached: `cached_bytes`, or an assumption where that is not known.

        A result that depends on the assumption says so: `octant.facts.assumption`.
        """
        return self.cached_bytes() or ASSUMED_CACHED_BYTES
