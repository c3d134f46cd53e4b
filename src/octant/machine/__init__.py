"""What a computer is, as data. `discover` is the only probe; everything here is pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

CpuSet = frozenset[int]
"""Operating-system numbers of hardware threads."""

LAST_CACHE = "last-level cache"
"""The subject of a disagreement about its size."""
CacheKind = Literal["data", "instruction", "unified"]


@dataclass(frozen=True)
class Cpu:
    """One hardware thread. Numbers are the operating system's; `core`, `package` and `numa` are machine-wide unique."""

    os: int
    core: int
    package: int
    numa: int
    die: int = 0
    kind: str = ""  # "performance", "efficiency", or "" where all cores are alike


@dataclass(frozen=True)
class Cache:
    """One cache and the hardware threads that share it."""

    level: int
    kind: CacheKind
    size_bytes: int
    line_bytes: int
    cpus: CpuSet
    ways: int | None = None  # places that a line may take; `None`: not told


@dataclass(frozen=True)
class NumaNode:
    """One memory node; `cpus` is empty for memory without cores (HBM, CXL)."""

    os: int
    cpus: CpuSet
    memory_bytes: int
    distances: tuple[int, ...] = ()  # to each node in order, 10 = local


@dataclass(frozen=True)
class PageSize:
    """A page size the system knows and how many such pages its pool holds (`None`: base pages, not pooled)."""

    size_bytes: int
    pool_pages: int | None = None
    free_pages: int | None = None


@dataclass(frozen=True)
class Topology:
    """Packages, NUMA domains, caches, cores and hardware threads.

    `allowed` is what this process may use (affinity mask and cgroup); `cpus` holds all that are online.
    """

    cpus: tuple[Cpu, ...]  # sorted by `os`
    caches: tuple[Cache, ...]
    numa: tuple[NumaNode, ...]
    allowed: CpuSet

    def usable(self) -> tuple[Cpu, ...]:
        """The hardware threads that this process may use, sorted by number."""
        return tuple(cpu for cpu in self.cpus if cpu.os in self.allowed)

    def usable_cores(self) -> int:
        """How many cores the usable hardware threads are on; at least one."""
        return max(1, len({cpu.core for cpu in self.usable()}))

    def groups(self, unit: str) -> tuple[CpuSet, ...]:
        """All instances of `unit` as sets of hardware threads, ordered by their lowest thread.

        Units: `thread`, `core`, `l1` … `l4` (data or unified caches), `numa`, `die`, `package`, `machine`. A cache
        level that the machine lacks gives the next smaller unit that exists (at least a core).

        Raises:
            ValueError: unknown unit.
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
            return _group(self.cpus, keys[unit])
        if unit[:1] == "l" and unit[1:].isdigit():
            for level in range(int(unit[1:]), 0, -1):
                sets = [c.cpus for c in self.caches if c.level == level and c.kind != "instruction"]
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

    architecture: str  # "x86_64", "aarch64", "ppc64le"
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
    memory_bytes: int
    page_sizes: tuple[PageSize, ...]
    system: dict[str, str] = field(default_factory=dict)  # kernel, thp, governor, virtualisation, clock source, …
    software: dict[str, str] = field(default_factory=dict)  # MPI and library versions
    disagreements: tuple[Disagreement, ...] = ()
    measured_cache_bytes: int | None = None  # of all caches together, where a ladder of a run contradicts the system

    def cache_bytes(self, level: int) -> int | None:
        """Size of one data or unified cache of that level; `None` if there is none."""
        sizes = [c.size_bytes for c in self.topology.caches if c.level == level and c.kind != "instruction"]
        return max(sizes, default=None)

    def last_level_cache_bytes(self) -> int:
        """Size of all last-level caches together."""
        data = [c for c in self.topology.caches if c.kind != "instruction"]
        last = max((c.level for c in data), default=0)
        return sum(c.size_bytes for c in data if c.level == last)

    def may_be_cached_bytes(self) -> int:
        """What caches may hold: as a ladder showed, else the last-level ones together; 128 MiB where none is known."""
        return self.measured_cache_bytes or self.last_level_cache_bytes() or 2**27
