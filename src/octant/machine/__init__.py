"""Data model of a computer. `discover` is the only probe; everything here is pure.

`None` means that a fact is not known. It never means zero, "none" or "not shared".
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

CpuSet = frozenset[int]
"""Hardware threads, by the numbers of the operating system (hwloc: OS indexes)."""
Number = Annotated[int, Meta(ge=-1, le=10_000_000)]
"""Number of a hardware thread, core, package or NUMA node; -1: not stated."""
Bytes = Annotated[int, Meta(ge=0, le=2**62)]

ASSUMED_CACHED_BYTES = 2**27
"""Assumed upper limit of the total cache capacity if no size is known; most processors have less."""

LAST_CACHE = "last-level cache"
"""Subject of a disagreement about the size of the last-level cache."""
CacheKind = Literal["data", "instruction", "unified"]


class NotKnownError(ValueError):
    """A fact of the machine is required and is not known."""


@dataclass(frozen=True)
class Cpu:
    """One hardware thread. `os` is the number of the operating system; `core`, `package` and `numa` are unique."""

    os: Number
    core: Number
    package: Number
    numa: Number | None  # the local NUMA node of this thread; `None`: the thread is in no node
    die: Number = 0
    kind: str = ""  # "performance", "efficiency", or "" if all cores are of one kind: see `classify`


@dataclass(frozen=True)
class Cache:
    """One cache and the hardware threads that share it."""

    level: Annotated[int, Meta(ge=1, le=9)]
    kind: CacheKind
    size_bytes: Bytes | None
    line_bytes: Bytes | None
    cpus: CpuSet  # never empty; a cache whose sharing is not known is omitted
    ways: Annotated[int, Meta(ge=1, le=2**31)] | None = None  # associativity


@dataclass(frozen=True)
class NumaNode:
    """One NUMA node; `cpus` is empty for memory without cores (HBM, CXL)."""

    os: Number
    cpus: CpuSet
    memory_bytes: Bytes | None
    distances: tuple[
        Annotated[int, Meta(ge=0, le=2**31)], ...
    ] = ()  # to each node in order, 10 = local; empty: not known
    kind: str = ""  # hwloc's subtype: "DRAM", "HBM", "MCDRAM", "GPUMemory", …; empty: not stated
    side_caches: tuple[
        Bytes | None, ...
    ] = ()  # bytes of the memory-side caches in front of the memory, nearest to the cores first


@dataclass(frozen=True)
class MemoryAttribute:
    """A memory attribute (hwloc: memattr) of a NUMA node, for accesses from the threads of `initiators`."""

    name: str  # hwloc's: "Bandwidth", "ReadBandwidth", "Latency", …
    node: Number
    value: float
    unit: str  # "B/s", "s", or "" for attributes that hwloc does not define
    initiators: CpuSet | None = None  # `None`: the value is the same for every thread


@dataclass(frozen=True)
class CpuKind:
    """Hardware threads of cores of one kind (hwloc: cpukind)."""

    cpus: CpuSet
    rank: Number | None  # efficiency rank of hwloc, from 0 (slowest); `None`: the system does not rank the kinds
    infos: tuple[tuple[str, str], ...] = ()  # hwloc's: "CoreType", "LinuxCapacity", "FrequencyBaseMHz", …


@dataclass(frozen=True)
class PageSize:
    """A page size of the system and the number of pages in its pool (`None`: base pages, which have no pool)."""

    size_bytes: int
    pool_pages: int | None = None
    free_pages: int | None = None


@dataclass(frozen=True)
class Topology:
    """Packages, NUMA domains, caches, cores and hardware threads.

    `allowed` has the hardware threads that this process may use (affinity mask and cgroup), `cpus` all that are online,
    and `complete` also those that are offline.
    """

    cpus: Annotated[tuple[Cpu, ...], Meta(min_length=1)]  # sorted by `os`
    caches: tuple[Cache, ...] | None  # `None`: not known, as without libhwloc; empty: the system describes none
    numa: tuple[NumaNode, ...]
    allowed: CpuSet
    complete: CpuSet | None = None
    kinds: tuple[CpuKind, ...] | None = ()  # ascending rank; empty if all cores are of one kind; `None`: not known
    memory_attributes: tuple[MemoryAttribute, ...] = ()
    allowed_nodes: CpuSet | None = None  # numbers of NUMA nodes; `None`: all of them, or not stated

    def usable_nodes(self) -> tuple[NumaNode, ...]:
        """Return the nodes whose memory this process may use; only those with memory if sizes are stated."""
        nodes = [node for node in self.numa if self.allowed_nodes is None or node.os in self.allowed_nodes]
        return tuple(node for node in nodes if node.memory_bytes) or tuple(nodes)

    def forbidden_nodes(self) -> CpuSet:
        """Return the numbers of the nodes with memory that this process may not use."""
        filled = [node for node in self.numa if node.memory_bytes] or self.numa
        return frozenset(node.os for node in filled) - {node.os for node in self.usable_nodes()}

    def data_caches(self, level: int | None = None) -> tuple[Cache, ...]:
        """Return the data and unified caches of one level or of all levels; empty if caches are not known."""
        return tuple(c for c in self.caches or () if c.kind != "instruction" and level in (None, c.level))

    def usable(self) -> tuple[Cpu, ...]:
        """Return the hardware threads that this process may use, sorted by number."""
        return tuple(cpu for cpu in self.cpus if cpu.os in self.allowed)

    def usable_cores(self) -> int:
        """Return the number of cores of the usable hardware threads; at least one."""
        return max(1, len({cpu.core for cpu in self.usable()}))

    def groups(self, unit: str) -> tuple[CpuSet, ...]:
        """Return all instances of `unit` as sets of hardware threads, ordered by their lowest thread.

        Units: `thread`, `core`, `l1` … `l4` (data or unified caches), `numa`, `die`, `package`, `machine`. If the
        machine does not have a cache level, the next smaller unit that exists is used (at least a core). Hardware
        threads that are in no NUMA node are in no group of `numa`.

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
                raise NotKnownError(f"cannot group hardware threads by {unit}: caches are not known; install hwloc")
            for level in range(int(unit[1:]), 0, -1):
                sets = [c.cpus for c in self.data_caches(level)]
                if sets and frozenset().union(*sets) >= {cpu.os for cpu in self.cpus}:
                    return tuple(sorted(sets, key=min))
            return self.groups("core")
        raise ValueError(f"unknown unit {unit!r}; use {', '.join(keys)} or l1 … l4")

    def smt(self) -> int:
        """Return the largest number of hardware threads of a core."""
        return max((len(group) for group in self.groups("core")), default=1)


def _group(cpus: Iterable[Cpu], key: Callable[[Cpu], object]) -> tuple[CpuSet, ...]:
    found: dict[object, set[int]] = {}
    for cpu in cpus:
        found.setdefault(key(cpu), set()).add(cpu.os)
    return tuple(sorted((frozenset(group) for group in found.values()), key=min))


@dataclass(frozen=True)
class Processor:
    """Identification and instruction sets of the processor. Hypervisors may change `model`, but rarely `flags`."""

    architecture: str | None  # "x86_64", "aarch64", "ppc64le"
    vendor: str
    model: str
    flags: frozenset[str]
    nominal_hz: Annotated[float, Meta(gt=0, le=1e15)] | None  # stated, not measured


@dataclass(frozen=True)
class Disagreement:
    """A fact about which the sources of the machine's description contradict each other."""

    subject: str
    statements: tuple[tuple[str, str], ...]  # (source, statement)
    trusted: str  # the source that Octant uses, and the reason


@dataclass(frozen=True)
class Machine:
    """A computer: the local one (discovered), a recorded one, or a published one."""

    name: str
    topology: Topology
    processor: Processor
    memory_bytes: int | None
    page_sizes: tuple[PageSize, ...]  # without the base page if its size is not known
    system: dict[str, str] = field(default_factory=dict)  # kernel, thp, governor, virtualisation, clock source, …
    software: dict[str, str] = field(default_factory=dict)  # MPI and library versions
    disagreements: tuple[Disagreement, ...] = ()
    measured_cache_bytes: int | None = None  # of all caches, if a measured latency ladder contradicts the system

    def cache_bytes(self, level: int) -> int | None:
        """Return the size of one data or unified cache of a level; `None` if there is none or no size is known."""
        return max((c.size_bytes for c in self.topology.data_caches(level) if c.size_bytes is not None), default=None)

    def last_level_cache_bytes(self) -> int | None:
        """Return the total size of the last-level caches; `None` if there are none or a size is not known."""
        last = max((c.level for c in self.topology.data_caches()), default=0)
        sizes = [c.size_bytes for c in self.topology.data_caches(last)]
        known = [size for size in sizes if size is not None]
        return sum(known) if sizes and len(known) == len(sizes) else None

    def cached_bytes(self) -> int | None:
        """Return the total cache capacity: measured, else that of the last level; `None` if neither is known."""
        return self.measured_cache_bytes or self.last_level_cache_bytes()

    def may_be_cached_bytes(self) -> int:
        """Return the size above which data does not fit the caches: `cached_bytes`, or an assumed size.

        A result that depends on the assumption states it: `octant.facts.assumption`.
        """
        return self.cached_bytes() or ASSUMED_CACHED_BYTES
