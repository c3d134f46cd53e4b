"""Records of launches: points, failures, and facts that are constant within a process.

A point contains everything except its samples, which are read by `Point.read`. A run of any size can therefore be
listed, with the samples of one cell at a time in memory. docs/records.md describes the lines.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from octant.record.sketch import Sketch
from octant.units import differing_texts

FORMAT = 2
SMALL_PAGES = "small pages"
"""Note about memory of a program that is not on the requested large pages."""
UNCHECKED = "not checked: "
"""Prefix of `where` of a failed check that had nothing to compare; its value has no meaning."""
THREADS_OF_PROCESS = "busy threads of a process"
"""Note with the largest number of busy threads of a process of a program."""
MISSING = "missing values"
"""Note with the reason for missing values of a program."""

Natural = Annotated[int, Meta(ge=0, le=2**62)]
Positive = Annotated[int, Meta(ge=1, le=2**62)]
Members = Annotated[int, Meta(ge=1, le=10_000_000)]
"""Number of ranks, threads or lanes."""
Amount = Annotated[float, Meta(ge=0, le=1e18)]
KEPT_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""Names, kinds and folders of files of launches: one part of a path, never `..`."""
KEPT_PATH = f"{KEPT_NAME}/{KEPT_NAME}"
_Name = Annotated[str, Meta(pattern=rf"\A{KEPT_NAME}\Z", max_length=64)]
_Kind = Annotated[str, Meta(pattern=rf"\A{KEPT_NAME}\Z", max_length=32)]
_Path = Annotated[str, Meta(pattern=rf"\A{KEPT_PATH}\Z", max_length=300)]
_Crc = Annotated[str, Meta(pattern=r"\A[0-9a-f]{8}\Z")]

Pace = Literal["chunks", "steps", "whole"]
"""chunks: lanes work alone. steps: the ranks of a group work together. whole: one repetition takes long."""


NOT_STATED = "not stated"
"""Text for a number of ranks or threads that an imported file does not state."""


def known_count(count: int | None) -> int:
    """Return a number of ranks or threads of a measured point, whose record always states both.

    Raises:
        ValueError: the point was imported, and its file does not state the number.
    """
    if count is None:
        raise ValueError("the imported file does not state the number of ranks and threads")
    return count


class RecordError(ValueError):
    """A line that is no valid record; the message states the reason."""


@dataclass(frozen=True)
class Work:
    """Work of one chunk or step, summed over the lanes of one role in one group, counted from the source."""

    counts: Mapping[str, Natural]
    group: Natural = 0
    role: str = ""
    lanes: Members = 1  # threads x ranks for chunks, ranks for steps
    batch: Positive = 1  # chunks or steps in one sample
    by_rank: Mapping[str, tuple[Natural, ...]] = field(default_factory=dict)  # if ranks differ


@dataclass(frozen=True)
class Result:
    """Named value of a kernel; with a bound it is a check."""

    name: str
    value: float
    unit: str = "1"
    bound: float | None = None
    group: int = 0
    where: str = ""  # of a check that failed: "rank 1, byte 17 of 64 from rank 0"

    @property
    def passed(self) -> bool:
        """Whether the value is within its bound; NaN never is."""
        return self.bound is None or self.value <= self.bound

    @property
    def text(self) -> str:
        """The outcome of the check: `bytes that differ is 3 where at most 0 is allowed (rank 1, byte 17)`."""
        if self.where.startswith(UNCHECKED):
            return f"{self.name} could not be checked ({self.where.removeprefix(UNCHECKED)})"
        value, bound = f"{self.value:.3g}", ""
        if self.bound is not None:
            value, most = differing_texts(self.value, self.bound, 3)
            bound = f" where at most {most} is allowed"
        return f"{self.name} is {value}{bound}{f' ({self.where})' if self.where else ''}"


@dataclass(frozen=True)
class Buffer:
    """Buffer as reported by the operating system."""

    bytes: Natural
    resident_bytes: Natural
    huge_bytes: Natural
    page_bytes: Natural
    pages_on_node: Mapping[str, Natural] = field(default_factory=dict)

    @property
    def huge_share(self) -> float:
        """Fraction of the resident bytes in huge pages."""
        return self.huge_bytes / self.resident_bytes if self.resident_bytes else 0.0


@dataclass(frozen=True)
class Scheduling:
    """Scheduling of one rank by the operating system, read within the rank."""

    policy: str = ""  # other, batch, idle, fifo, rr, deadline
    priority: int = 0  # of fifo and rr
    nice: Annotated[int, Meta(ge=-20, le=19)] = 0
    autogroup: str = ""  # of its session, with that group's nice value; "": there are none
    group: str = ""  # path of its control group
    shares: Natural | None = None  # weight of that group: version 1, usually 1024
    weight: Natural | None = None  # version 2, usually 100
    quota_cores: Amount | None = None  # the smallest quota from its group to the root, CPU time per time
    quota_group: str = ""  # control group of the quota
    cpuset: str = ""  # CPUs that its control group may use: "0-3,8"

    @property
    def text(self) -> str:
        """`other, nice 0, group /job, 1024 shares, a quota of 0.5 cores (/job)`."""
        parts = [f"{self.policy} {self.priority}" if self.priority else self.policy, f"nice {self.nice}"]
        parts += [f"autogroup {self.autogroup}"] if self.autogroup else []
        parts += [f"group {self.group}"] if self.group else []
        parts += [f"{self.shares} shares"] if self.shares is not None else []
        parts += [f"weight {self.weight}"] if self.weight is not None else []
        if self.quota_cores is not None:
            parts.append(f"a quota of {self.quota_cores:g} cores ({self.quota_group})")
        parts += [f"cpuset {self.cpuset}"] if self.cpuset else []
        return ", ".join(parts)


@dataclass(frozen=True)
class RankResources:
    """Resources of one rank, read back within the rank."""

    host: str
    cpus: tuple[int, ...]  # last known CPU of each thread
    thread_masks: tuple[tuple[Natural, ...], ...]
    buffers: tuple[Buffer, ...] = ()
    scheduling: Scheduling | None = None


@dataclass(frozen=True)
class RankTimes:
    """Wall, CPU and lost time of one rank: sums over its bursts in ns, one for each lane."""

    rank: Natural
    wall_ns: tuple[Natural, ...]
    cpu_ns: tuple[Natural, ...] = ()  # of the lane's own thread; none if other threads share its work
    wait_ns: tuple[Natural, ...] = ()  # on the run queue; of several threads, of the one that waited most
    throttled_ns: Natural = 0  # by the strictest quota, summed over CPUs
    throttled_group: str = ""  # control group of this quota
    elapsed_ns: Natural = 0  # from the first burst to the end of the last
    stolen_ns: Natural | None = None  # stolen by the hypervisor in this time, from the CPUs of the rank


@dataclass(frozen=True)
class Clock:
    """Cost of reading the clock, and cost and reading of an empty phase mark; ns."""

    source: str = "CLOCK_MONOTONIC"
    cost_ns: Amount = 0.0
    resolution_ns: Amount = 0.0
    mark_ns: Amount = 0.0
    empty_ns: Amount = 0.0


@dataclass(frozen=True)
class Process:
    """Facts that are constant while the processes of a launch live."""

    mpi: str = ""
    build: Mapping[str, Any] = field(default_factory=dict)
    clock: Clock = Clock()
    hosts: tuple[str, ...] = ()
    started: str = ""  # ISO 8601
    init_s: float | None = None  # of MPI_Init
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of the MPI library, as it reads them back
    link: str = ""  # emulated link between hosts: "100Mbit/s,delay=1ms"; "": a real network
    waits: str = ""  # a rank that waits for another "polls" (it uses its CPU) or "sleeps"; "": one rank, older records

    @property
    def begun(self) -> datetime | None:
        """The start time; `None` if it is not recorded."""
        try:
            return datetime.fromisoformat(self.started).astimezone()
        except (ValueError, OverflowError):
            return None


@dataclass(frozen=True)
class Head:
    """Description of a series without its values."""

    name: str  # "step", "phase/pack", "reading/residual"
    rank: int = 0
    thread: int = 0
    group: int = 0
    role: str = ""
    unit: str = "ns"
    clock_hz: tuple[int, ...] = ()  # of the core after each burst of samples, under load if the kernel supports it


@dataclass(frozen=True)
class Series:
    """Samples of one rank or lane: times in ns, or readings in their own unit."""

    head: Head
    values: NDArray[np.float64]  # one per sample
    gap_ns: NDArray[np.float64] | None = None  # before each sample; the first counts from the common start
    preempted: frozenset[int] = frozenset()  # numbers of samples during which the thread was switched out
    entries: NDArray[np.float64] | None = None  # of a phase: number of entries in each sample
    bursts: tuple[tuple[int, int], ...] = ()  # of lanes that work alone: number of the first sample, length in ns

    @property
    def begin_ns(self) -> NDArray[np.float64] | None:
        """The start of each sample, from the common start; `None` if gaps were not recorded."""
        if self.gap_ns is None:
            return None
        begins: NDArray[np.float64] = np.cumsum(self.gap_ns) + np.cumsum(self.values) - self.values
        return begins


@dataclass(frozen=True)
class RankTotal:
    """Exact sums over the samples of one rank, ns."""

    rank: int
    count: int
    sum_ns: int
    least_ns: int
    greatest_ns: int


@dataclass(frozen=True)
class Reduced:
    """Reductions of a series of all ranks of a group whose samples would not fit into a record."""

    name: str
    ranks: tuple[RankTotal, ...]
    sketch: Sketch  # of all times of all ranks, ns
    group: int = 0
    role: str = ""
    slowest_ns: NDArray[np.float64] | None = None  # of each step: the slowest rank's time
    slowest: Sketch | None = None  # the same, if the list does not fit
    blocks_ns: tuple[int, ...] = ()  # sums of the slowest times over blocks of 1,000 steps
    worst: tuple[tuple[int, int, int], ...] = ()  # (step, rank, ns) of the 64 slowest
    preempted: frozenset[int] = (
        frozenset()
    )  # steps with a preempted rank; only the slowest if these are all that is kept
    gaps: Sketch | None = None  # of lanes that work alone: times of bursts outside of their samples, ns


@dataclass(frozen=True)
class Samples:
    """Samples of a point: every series, or its reductions."""

    series: tuple[Series, ...] = ()
    reduced: tuple[Reduced, ...] = ()


@dataclass(frozen=True)
class KeptFile:
    """File that a launch left in the run's folder, or that could not be stored there."""

    name: _Name  # name in the kernel or program
    kind: Annotated[str, Meta(pattern=rf"\A{KEPT_NAME}\Z", max_length=32)]  # kind: "field", "profile", "output"
    bytes: Natural
    rank: Natural = 0  # rank that stored it
    crc: Annotated[str, Meta(pattern=r"\A[0-9a-f]{8}\Z")] = (
        ""  # CRC-32 of its content, eight hexadecimal digits; "": it was not stored
    )
    stored: Annotated[str, Meta(pattern=rf"\A{KEPT_PATH}\Z", max_length=300)] = (
        ""  # path below `files` in the run's folder; "": it was not stored
    )
    left_out: str = ""  # why it was not stored


@dataclass(frozen=True)
class Point:
    """Measurement of one cell in one launch."""

    workload: str  # family/name
    launch: str  # key of its planned launch
    knobs: Mapping[str, str]
    ranks: int | None  # `None`: an imported result whose file does not state it
    threads: int | None  # of each rank; `None`: as above
    pace: Pace
    work: tuple[Work, ...]
    results: tuple[Result, ...]
    read: Callable[[], Samples] = field(compare=False, repr=False)  # reads the samples, anew at each call
    heads: tuple[Head, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()  # ranks that work together; empty: all in one group
    warmup: int = 0  # samples of the step before the steady state
    stopped_by: str = ""
    coalesced: int = 1  # samples that were summed to one
    marks_off: tuple[tuple[int, int, int], ...] = ()  # samples [from, to) of a group that had no phase marks
    process: Process = Process()
    sync: str = "none"
    exit_skew_ns: tuple[int, ...] = ()
    share_cores: bool = False
    blocks: bool = False  # steps wait without using the CPU: for a disk, a timer or a kernel thread
    noise: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # before, during, after
    notes: Mapping[str, str] = field(default_factory=dict)
    given: tuple[RankResources, ...] = ()  # one per rank
    taken: tuple[RankTimes, ...] = ()  # one per participating rank; none in older records
    files: tuple[KeptFile, ...] = ()  # files of its launch; `store.kept` reads them
    spent_s: Mapping[str, float] = field(default_factory=dict)  # build_s, measure_s, check_s; none in older records

    @property
    def checks(self) -> tuple[Result, ...]:
        """The results that have a bound."""
        return tuple(result for result in self.results if result.bound is not None)

    @property
    def passed(self) -> bool:
        """Whether every check is within its bound."""
        return all(check.passed for check in self.checks)

    @property
    def failed_checks(self) -> tuple[Result, ...]:
        """The checks that are not within their bounds."""
        return tuple(check for check in self.checks if not check.passed)

    def count(self, *names: str, role: str | None = None) -> int:
        """Return the sum of these counts of one chunk of every lane, or one step of every group.

        Args:
            role: only this role; `None`: all roles, which perform a step together, but for lanes that work alone only
            the
                first role, which is measured.
        """
        return sum(work.counts.get(name, 0) for work in self.work_of(role) for name in names)

    def work_of(self, role: str | None = None) -> tuple[Work, ...]:
        """Return the work that a metric of this role counts; see `count`."""
        if role is None and self.pace != "chunks":
            return self.work
        wanted = self.first_role if role is None else role
        return tuple(work for work in self.work if work.role == wanted)

    @property
    def first_role(self) -> str:
        """The role that is measured."""
        return self.work[0].role if self.work else ""

    @property
    def lanes(self) -> int:
        """The number of busy lanes or ranks of the measured role."""
        return sum(work.lanes for work in self.work if work.role == self.first_role)

    @property
    def parts(self) -> int:
        """The number of parts that perform the counts together: lanes that work alone, or groups."""
        return self.lanes if self.pace == "chunks" else len({work.group for work in self.work}) or 1

    @property
    def working_ranks(self) -> int | None:
        """The number of ranks that take part; those in no group are idle. `None`: it is not stated."""
        return sum(map(len, self.groups)) or self.ranks

    @property
    def batch(self) -> int:
        """Chunks or steps of the measured role in one sample of the first group."""
        return next((work.batch for work in self.work), 1) * self.coalesced

    def batch_of(self, group: int, role: str) -> int:
        """Return the chunks or steps in one sample of a role in a group; each group has its own number."""
        return self._batches.get((group, role), 1) * self.coalesced

    @cached_property
    def _batches(self) -> Mapping[tuple[int, str], int]:
        """Batches by group and role; the first work counts."""
        return {(work.group, work.role): work.batch for work in reversed(self.work)}

    @cached_property
    def marks_off_by_group(self) -> Mapping[int, Sequence[tuple[int, int]]]:
        """Samples [from, to) that had no phase marks, by group."""
        found: dict[int, list[tuple[int, int]]] = {}
        for begin, end, group in self.marks_off:
            found.setdefault(group, []).append((begin, end))
        return found

    @property
    def clock_hz(self) -> float | None:
        """Median clock of the busy cores during this measurement; `None` if it was not observed."""
        observed = [hz for head in self.heads for hz in head.clock_hz]
        return float(np.median(observed)) if observed else None

    @property
    def hardware_threads(self) -> frozenset[tuple[str, int]]:
        """(host, number) of the hardware threads that working ranks use. Bound threads count as bound.

        Threads that may use several count where they were seen, and on others of their mask if fewer were seen than can
        run at once. More threads than hardware threads share them: a limit counts hardware threads.
        """
        used: set[tuple[str, int]] = set()
        seen: dict[tuple[str, tuple[int, ...]], list[int]] = {}  # of threads that may use several, by mask
        working = {rank for group in self.groups for rank in group} or range(len(self.given))
        for given in (given for rank, given in enumerate(self.given) if rank in working):
            for number, mask in enumerate(given.thread_masks):
                if len(mask) == 1:
                    used.add((given.host, mask[0]))
                else:
                    seen.setdefault((given.host, mask), []).append(
                        given.cpus[number] if number < len(given.cpus) else -1
                    )
        for (host, mask), cpus in seen.items():
            order = dict.fromkeys((*(cpu for cpu in cpus if cpu >= 0), *mask))
            at_once = max(min(len(cpus), len(mask)), len({cpu for cpu in cpus if cpu >= 0}))
            used |= {(host, cpu) for cpu in list(order)[:at_once]}
        return frozenset(used)


@dataclass(frozen=True)
class LinkTraffic:
    """Traffic of an emulated link during a launch, with the measured delay."""

    launch: str
    link: str  # as requested
    sent_bytes: tuple[int, ...]  # by each host
    sent_packets: tuple[int, ...]
    delay_ns: Mapping[str, int] = field(default_factory=dict)  # of packets: least, tenth, median, …; empty: no relay
    delayed: int = 0  # packets
    dropped: int = 0  # packets, by the relay
    real_time: bool = False  # whether the relay had real-time priority


@dataclass(frozen=True)
class Failure:
    """Launch or point without a result, with the reason."""

    workload: str
    launch: str
    knobs: Mapping[str, str]
    ranks: int | None  # `None`: of an imported file that does not state it
    reason: str
    exit: int
    share: float | None = None  # progress, 0 to 1, if reported
    phase: str = ""
    files: tuple[KeptFile, ...] = ()  # output of a failed user's program


def unstated_counts(point: Point) -> str:
    """Return which counts an imported file does not state: `ranks and threads not stated`; "" if it states both."""
    missing = [name for name, count in (("ranks", point.ranks), ("threads", point.threads)) if count is None]
    return f"{' and '.join(missing)} {NOT_STATED}" if missing else ""
