"""The guard of a program: octant-bind with `--report` waits for it and writes one line of JSON about its run.

native/bind/line.cpp writes the lines. Processes of the user can write to the file, too, so it is read as a foreign one.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from octant.machine.cpusets import parse_cpus
from octant.record import Amount, Natural, RankResources, RankTimes

FILE_LIMIT = 16 * 2**20
"""Bytes of a report that are read; a line has less than a kilobyte, and 100 bytes more for each thread seen."""
MAX_PROBLEMS = 10
"""Lines of one file that are reported as unreadable."""
_LONGEST = 200  # characters of a reason
_Name = Annotated[str, Meta(max_length=256)]
_Text = Annotated[str, Meta(max_length=4096)]
_Signal = Annotated[int, Meta(ge=1, le=64)]
_Number = Annotated[int, Meta(ge=0, lt=2**20)]  # of a hardware thread or memory node


@dataclass(frozen=True)
class Outlived:
    """A process that was still alive when the program had ended; the guard ended it."""

    pid: Natural
    name: _Name


@dataclass(frozen=True)
class SeenThread:
    """One thread, as the looks saw it."""

    name: str
    cpu_s: float  # in ticks of the kernel, usually 10 ms
    mask: frozenset[int]  # hardware threads that it may use, at the last look; empty: not known
    looks_by_cpu: Mapping[int, int]  # looks, by the hardware thread that it ran on last
    process: int = 0  # its number; 0: not known


@dataclass(frozen=True)
class Energy:
    """What one energy counter of the processors counted during the run, other load included."""

    domain: _Name  # "package-0", "package-0/dram"
    joules: Amount


@dataclass(frozen=True)
class GuardReport:
    """What a guard reports of the run of one program. CPU times and counters include all descendants."""

    whole: bool  # of the whole command line of a launch, the launcher included; else of one rank
    host: str
    pid: int  # of the program
    started_s: float  # after the epoch
    wall_s: float
    user_s: float
    system_s: float
    memory_bytes: int  # peak resident memory of the largest process
    minor_faults: int
    major_faults: int
    voluntary_switches: int
    involuntary_switches: int
    given: RankResources  # masks of the threads that used CPU time, else the initial mask
    lost: RankTimes
    pressure_s: float | None = None  # in which a thread of the control group, or of the system, waited for a CPU
    rank: int | None = None
    local_rank: int | None = None
    status: int | None = None  # exit status
    signal: int | None = None  # that ended the program
    stop_signal: int | None = None  # that ended the guard
    not_started: str = ""  # why the program could not be started; then the status is 126 or 127
    outlived: tuple[Outlived, ...] = ()
    left: int = 0  # processes that could not be ended: they wait for a device, or belong to another user
    memory_policy: str = ""  # that the program was started with: "default", "bind:0-1"
    looks: int = 0  # none at a program that ends within 20 ms
    processes: int | None = None  # seen at once, at most
    threads: tuple[SeenThread, ...] = ()  # by CPU time, at most 256
    node_bytes: Mapping[int, int] = field(default_factory=dict)  # private memory, by memory node
    huge_bytes: int | None = None  # of it, on huge pages
    energy: tuple[Energy, ...] = ()

    @property
    def code(self) -> int | None:
        """Exit status, or minus the signal that ended the program; `None`: the system could not end it."""
        return -self.signal if self.signal is not None else self.status


@dataclass(frozen=True)
class GuardFile:
    """The lines of a report's file."""

    reports: tuple[GuardReport, ...] = ()
    problems: tuple[str, ...] = ()  # why lines, or the rest of the file, were not read


class _Thread(msgspec.Struct, forbid_unknown_fields=True):
    name: _Name
    cpu_s: Amount
    seen_on: Annotated[dict[_Number, Natural], Meta(max_length=65536)]
    mask: Annotated[str, Meta(max_length=65536)] = ""
    process: Natural = 0


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    kind: Literal["guard"]
    whole: bool
    host: _Name
    pid: Natural
    started: Amount
    wall_s: Amount
    user_s: Amount
    system_s: Amount
    memory_bytes: Natural
    minor_faults: Natural
    major_faults: Natural
    voluntary_switches: Natural
    involuntary_switches: Natural
    given: RankResources
    lost: RankTimes
    pressure_s: Amount | None = None
    rank: Natural | None = None
    local_rank: Natural | None = None
    status: Annotated[int, Meta(ge=0, le=255)] | None = None
    signal: _Signal | None = None
    stop_signal: _Signal | None = None
    not_started: _Text = ""
    outlived: Annotated[tuple[Outlived, ...], Meta(max_length=64)] = ()
    left: Natural = 0
    memory_policy: _Text = ""
    looks: Natural = 0
    processes: Natural | None = None
    threads: Annotated[tuple[_Thread, ...], Meta(max_length=256)] = ()
    nodes: Annotated[dict[_Number, Natural], Meta(max_length=4096)] = {}
    huge_bytes: Natural | None = None
    energy: Annotated[tuple[Energy, ...], Meta(max_length=1024)] = ()


_DECODER = msgspec.json.Decoder(_Line)


def words(report: Path, whole: bool = False, remove: Path | None = None) -> list[str]:
    """Return the options with which octant-bind waits for the program and reports its run.

    Args:
        report: file that gets the line; guards append to it.
        whole: the program is the whole command line of a launch.
        remove: folder that the guard removes when everything has ended.
    """
    found = ["--report", str(report.absolute())]
    if whole:
        found.append("--whole")
    return found if remove is None else [*found, "--remove", str(remove.absolute())]


def read(path: Path) -> tuple[GuardReport, ...]:
    """Return the reports in a file that can be read, in the order in which the programs ended; see `load`."""
    return load(path).reports


def load(path: Path) -> GuardFile:
    """Read a report's file. Nothing in it raises: it is named in `problems`. No file: no program was started."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return GuardFile(problems=(f"{path.name} is not a regular file",))
            data = file.read(FILE_LIMIT + 1)
    except FileNotFoundError:
        return GuardFile()
    except IsADirectoryError:
        return GuardFile(problems=(f"{path.name} is not a regular file",))
    except OSError as error:
        return GuardFile(problems=(f"{path.name} cannot be read ({error.strerror})",))
    reports: list[GuardReport] = []
    problems: list[str] = []
    if len(data) > FILE_LIMIT:
        problems.append(f"{path.name} is longer than {FILE_LIMIT} bytes; the rest was not read")
        data = data[:FILE_LIMIT].rpartition(b"\n")[0]
    for number, line in enumerate(data.splitlines(), 1):
        try:
            reports.append(_report(line))
        except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
            problems.append(f"line {number} of {path.name} is not a valid guard report ({str(error)[:_LONGEST]})")
    return GuardFile(tuple(reports), tuple(problems[:MAX_PROBLEMS]))


def _report(text: bytes) -> GuardReport:
    """One line.

    Raises:
        ValueError: it is not one that octant-bind writes.
    """
    line = _DECODER.decode(text)
    if line.status is not None and line.signal is not None:
        raise ValueError("it has both an exit status and a signal")
    if line.given.host != line.host or line.lost.rank != (line.rank or 0):
        raise ValueError("it has two hosts or ranks")
    members = {name: getattr(line, name) for name in GuardReport.__dataclass_fields__ if hasattr(line, name)}
    threads = tuple(
        SeenThread(one.name, one.cpu_s, parse_cpus(one.mask) if one.mask else frozenset(), one.seen_on, one.process)
        for one in line.threads
    )
    return GuardReport(**{**members, "started_s": line.started, "node_bytes": line.nodes, "threads": threads})
