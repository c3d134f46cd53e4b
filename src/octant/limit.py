"""Limits of the hardware: least times, the figures that provide them, and their lookup."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta

from octant.facts import counted_as_memory
from octant.machine import LAST_CACHE, Cpu, Machine, Topology
from octant.record import Point

Threads = frozenset[tuple[str, int]]
"""Hardware threads in use: (host, number)."""


@dataclass(frozen=True)
class Limit:
    """Least time of a step, or a chunk of every lane, on this hardware, with its source."""

    seconds: float
    source: str  # "8 flop per cycle at 2.99 GHz (measured), 1 hardware thread"


@dataclass(frozen=True)
class LimitRequest:
    """Short request that measures a limit for another request."""

    knobs: Callable[[Machine, Mapping[str, str], int], Mapping[str, str]]
    """Function of the machine, of a cell of the other request, and of its ranks."""
    title: str  # "memory bandwidth"
    of_pairs: bool = False  # one process measures all pairs of hardware threads, whatever the other request uses


@dataclass(frozen=True)
class Provides:
    """Declaration that figures of one metric are a limit for other figures, under a condition.

    A figure in seconds provides its reciprocal, so that the greatest value is the best of every limit.
    """

    name: str  # "memory traffic"
    metric: str
    when: Callable[[Machine, Point], bool] = lambda _machine, _point: True
    variant: Callable[[Point], str] = lambda _point: ""  # what must agree besides the name: "268435456 B"
    setting: tuple[str, ...] = ()  # knobs whose values are stated with the limit
    measured_by: LimitRequest | None = None  # `None`: not measured for runs of other workloads


@dataclass(frozen=True)
class Best:
    """Best figure for a limit."""

    value: float
    cell: Hashable  # which cell it is of (`Identity.cell`)
    setting: str = ""  # "streaming stores, huge pages"
    run: str = ""  # another run that measured it, with its age: "run 20261127-041200-123, 2 h earlier"

    @property
    def where(self) -> str:
        """Where it was measured: `in this run (streaming stores, huge pages)`."""
        return f"in {self.run or 'this run'}" + f" ({self.setting})" * bool(self.setting)


@dataclass(frozen=True)
class StoredLimit:
    """Limit of an earlier run of the same machine, stored with the run that uses it."""

    name: str  # as `Known.by_name` has it
    value: Annotated[float, Meta(gt=0)]
    threads: tuple[Annotated[int, Meta(ge=0)], ...]  # hardware threads of this machine
    run: str  # id of the run that measured it
    measured: str  # ISO 8601 with offset: start of its last launch
    setting: str = ""


@dataclass(frozen=True)
class Known:
    """Limits that a run's figures provide, by name and by hardware threads in use."""

    topology: Topology
    by_name: Mapping[str, Mapping[Threads, Best]] = field(default_factory=dict)
    clock_hz: float | None = None  # of the cores at the work in question: median of each launch, then of these medians

    def best(self, name: str, threads: Threads, variant: str = "") -> Best | None:
        """Return the best value of these hardware threads and of others with the same layout.

        Each launch chooses hardware threads at random, so those with the same layout share a limit.

        Args:
            variant: of the limit (`Provides.variant`).

        Raises:
            KeyError: the workload does not declare this limit.
        """
        wanted = pattern(self.topology, threads)
        known = self.by_name.get(variant_name(name, variant), {}) if variant else self.by_name[name]
        same_number = {other: best for other, best in known.items() if len(other) == len(threads)}
        alike = [best for other, best in same_number.items() if pattern(self.topology, other) == wanted]
        return max(alike, key=lambda best: best.value, default=None)

    def greatest(self, name: str) -> Best | None:
        """Return the limit of the hardware threads that reach most.

        Raises:
            KeyError: the workload does not declare this limit.
        """
        return max(self.by_name[name].values(), key=lambda best: best.value, default=None)

    def only(self, names: tuple[str, ...], clock_hz: float | None = None) -> "Known":
        """Return only these limits; a workload gets no limit that it does not declare.

        Args:
            clock_hz: at the work of the figure in question.
        """
        variants = {name: best for name, best in self.by_name.items() if declared_name(name) in names}
        return Known(self.topology, {**{name: {} for name in names}, **variants}, clock_hz)


_VARIANT = "; "


def variant_name(name: str, variant: str) -> str:
    """Return the name of a limit with its variant."""
    return f"{name}{_VARIANT}{variant}" if variant else name


def declared_name(name: str) -> str:
    """Return the name of a limit without its variant, as workloads declare it."""
    return name.partition(_VARIANT)[0]


Level = Literal["L1", "L2", "L3", "memory"]
LEVELS: tuple[Level, ...] = ("L1", "L2", "L3", "memory")
"""Levels that may hold data, the nearest first."""
MEMORY: Level = "memory"
SCALAR = "scalar multiply-adds"
"""Limit by scalar multiply-adds in double precision."""
LINE_TRANSFER = "cache-line transfer"
"""Limit by the transfer of a cache line from one core to another."""
FMA = {"double": "fma double", "single": "fma single"}
"""Limit by multiply-adds of each precision."""
_SINGLE_TO_DOUBLE = 2  # elements of a vector


def fma_peak(known: Known, element: str, threads: Threads) -> Limit | None:
    """Return the least time of one flop by multiply-adds; single precision falls back to half of double's.

    Raises:
        KeyError: an unknown element, or the workload does not declare the limit `FMA`.
    """
    best = known.best(FMA[element], threads)
    if best is not None:
        return Limit(1 / best.value, f"{element} multiply-adds measured {best.where}")
    double = known.best(FMA["double"], threads)
    if double is None:
        return None
    source = f"twice the double-precision multiply-adds measured {double.where}"
    return Limit(1 / (_SINGLE_TO_DOUBLE * double.value), source)


def fma_limit(known: Known, point: Point, element: str = "double", what: str = "") -> Limit | None:
    """Return the least time of the flops of a measurement, by multiply-adds of this precision.

    Args:
        what: text before the source.

    Raises:
        KeyError: as `fma_peak`.
    """
    peak = fma_peak(known, element, point.hardware_threads)
    if peak is None:
        return None
    core = point.notes.get("library_core", "")
    kernels = f"; the library uses its {core} kernels" if core else ""
    return Limit(point.count("flops") * peak.seconds, f"{what}{peak.source}{kernels}")


def memory_limit(known: Known, machine: Machine, point: Point, footprint: int, moved: int, note: str) -> Limit | None:
    """Return the least time to move these bytes at the best memory traffic; `None` if caches may hold them.

    Args:
        footprint: bytes of all threads together.
        moved: bytes of a step, or of a chunk of every lane.
        note: text after the source.

    Raises:
        KeyError: the workload does not declare the limit by memory traffic.
    """
    best = known.best(traffic_in(MEMORY), point.hardware_threads)
    if best is None or footprint < 2 * machine.may_be_cached_bytes():
        return None
    assumed = "" if machine.cached_bytes() else f"; the size of the caches is not known: {counted_as_memory(machine)}"
    return Limit(moved / best.value, f"best memory traffic {best.where}, {note}{assumed}")


def cache_line(machine: Machine) -> tuple[int, str]:
    """Return the bytes of the longest cache line, and a remark if they are an assumption."""
    known = [cache.line_bytes for cache in machine.topology.caches or () if cache.line_bytes]
    return (max(known), "") if known else (ASSUMED_LINE_BYTES, f" (assuming lines of {ASSUMED_LINE_BYTES} bytes)")


ASSUMED_LINE_BYTES = 64
"""Length of a cache line if no cache states it."""


def longest(limits: Iterable[Limit | None]) -> Limit | None:
    """Return the limit with the longest time; `None` if there is none."""
    return max(filter(None, limits), key=lambda limit: limit.seconds, default=None)


def traffic_in(level: Level) -> str:
    """Return the name of the limit by traffic in a level; it includes write-allocate lines beyond the first level."""
    return f"{level} traffic"


CLEAR = 2
"""Beyond this multiple of a cache size, the next level serves all accesses; below, both levels do.

An exclusive (victim) cache adds the size of the level before it to its own, which is less than twice its own size.
"""

NEAR = 2 / 3
"""Beyond this fraction of a cache size, data does not fit completely: code and other data use the cache, too."""


def cache_capacities(machine: Machine, threads: Threads) -> dict[int, int]:
    """Return by cache level the largest footprint, in bytes, that fits into the caches of these hardware threads.

    Each thread has an equal part of the footprint; threads that share a cache share its size. Sizes are those that the
    system states. A level is missing where no thread has such a cache.
    """
    used = [number for _, number in threads]
    found: dict[int, int] = {}
    for cache in machine.topology.data_caches():
        sharing = sum(cpu in cache.cpus for cpu in used)
        if sharing and cache.size_bytes is not None:
            fits = cache.size_bytes * len(used) // sharing
            found[cache.level] = min(fits, found.get(cache.level, fits))
    return dict(sorted(found.items()))


def level_of(machine: Machine, threads: Threads, footprint: int) -> Level | None:
    """Return the nearest level that holds data which these hardware threads traverse repeatedly.

    Sizes are as stated, and each thread has an equal part. Data well beyond every cache are in memory. `None` up to
    `CLEAR` times a cache that is too small, between the last cache and memory, and in a last cache of disputed size.

    Args:
        footprint: bytes of all threads together.
    """
    capacities = cache_capacities(machine, threads)
    last = max((cache.level for cache in machine.topology.data_caches()), default=0)
    unseen = machine.measured_cache_bytes is not None
    disputed = unseen or any(one.subject == LAST_CACHE for one in machine.disagreements)
    before = 0
    for number, level in enumerate(LEVELS[:-1], 1):
        if number not in capacities or (number == last and disputed):
            continue
        if footprint <= capacities[number]:
            return level if footprint >= CLEAR * before else None
        before = capacities[number]
    return MEMORY if footprint >= 2 * machine.may_be_cached_bytes() else None


def levels_serving(machine: Machine, threads: Threads, footprint: int) -> tuple[Level, ...]:
    """Return the levels that serve repeated accesses to a footprint, the nearest first; by stated sizes.

    A footprint near the size of a cache, from `NEAR` to `CLEAR` times its size, is served by the next level as well.
    It includes the level of `level_of`.

    Args:
        footprint: bytes of all threads together.
    """
    capacities, found = cache_capacities(machine, threads), list[Level]()
    for number, level in enumerate(LEVELS[:-1], 1):
        if number in capacities and footprint < CLEAR * capacities[number]:
            found.append(level)
            if footprint <= NEAR * capacities[number]:
                return tuple(found)
    return (*found, MEMORY)


def pattern(topology: Topology, threads: Threads) -> object:
    """Return the layout of hardware threads: per host, their numbers per package, domain and core, without names."""
    cpus = {cpu.os: cpu for cpu in topology.cpus}
    hosts: dict[object, Any] = {}
    for host, number in threads:
        cpu = cpus.get(number, Cpu(number, number, 0, 0))
        cores = hosts.setdefault(host, {}).setdefault(cpu.package, {}).setdefault(cpu.numa, {})
        cores.setdefault(cpu.core, []).append(cpu.kind)
    return _without_names(hosts)


def _without_names(part: Any) -> tuple[Any, ...]:
    return tuple(sorted(map(_without_names, part.values()))) if isinstance(part, dict) else tuple(sorted(part))
