"""Requests, their cells, and the launches that measure them, as data.

The bounds of fields are those within which a stored request is read; code that creates one respects them.
"""

import functools
import hashlib
import itertools
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Literal

from msgspec import Meta

from octant import renamed, units
from octant.program import FAMILY, ProgramCheck, ProgramProfile, ProgramValue, is_program

EFFORT = frozenset({"seconds", "samples", "least", "precision"})
"""Knobs of kernels for the duration of measurements, not for what is measured."""


def effort_knobs(subject: str) -> frozenset[str]:
    """Return the knobs of a subject `family/name` for the duration of measurements; a user's program has none.

    The knobs of a program are chosen by its user, whatever their names.
    """
    return frozenset() if is_program(subject) else EFFORT


_NODES = re.compile("(?:bind|interleave):[0-9-]+(?:[,+][0-9-]+)*")
"""NUMA nodes in the syntax of the knob `memory` and of numactl."""


Count = Annotated[int, Meta(ge=1, le=10_000_000)]
Name = Annotated[str, Meta(pattern=r"^([a-z0-9_]+/[a-z0-9_]+)?\Z")]
"""Name of a workload, used in file names."""
ProgramName = Annotated[str, Meta(pattern=r"^[^/\x00-\x1f\x7f]{0,80}\Z")]
"""Name of a user's program, used in file names."""
Host = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@-]*\Z")]
"""As `runs.command_line` takes it: ssh takes `-o…` for an option."""


@dataclass(frozen=True)
class Subject:
    """Subject of a request: a workload's kernel, or a user's program.

    A command line, its variables and the name of its input file may contain `{knob}`, which a launch replaces by the
    value of that knob.
    """

    workload: Name = ""  # family/name
    command: tuple[str, ...] = ()  # as the user wrote it, including the launcher
    program: ProgramName = ""  # name of the program after the launcher; "": the first word
    environment: Mapping[str, str] = field(default_factory=dict)  # set for the launches
    input: str = ""  # file for standard input; "": it is empty
    directory: str = ""  # working directory; "": that of Octant
    fresh: bool = False  # each launch uses a copy of the directory
    values: tuple[ProgramValue, ...] = ()
    checks: tuple[ProgramCheck, ...] = ()
    statuses: tuple[int, ...] = (0,)  # exit statuses of a successful launch
    keep: tuple[str, ...] = ()  # files of the program that are stored with the run
    before: tuple[tuple[str, ...], ...] = ()  # commands that run before each launch
    after: tuple[tuple[str, ...], ...] = ()
    profile: ProgramProfile | None = None  # its MPI calls are recorded; `None`: they are not

    @property
    def name(self) -> str:
        """The workload's name, or `program/` and the program's."""
        return self.workload or f"{FAMILY}/{self.program or self.command[0].rpartition('/')[2]}"

    @property
    def started(self) -> list[object]:
        """What distinguishes it from other subjects: everything that may change a launch, as JSON data."""
        further = {
            "environment": sorted(self.environment.items()),
            "input": self.input,
            "directory": self.directory,
            "fresh": self.fresh,
            "before": self.before,
            "after": self.after,
            "profile": [self.profile.mode, self.profile.sites] if self.profile else None,
        }
        stated = {name: value for name, value in further.items() if value}
        return [self.workload, list(self.command), *([stated] if stated else [])]

    def spelled(self, values: str) -> str:
        """Return a knob's value, or a list of them, in one spelling; a program's argument is unchanged."""
        return values if self.command else canonical(values)


@dataclass(frozen=True)
class Shape:
    """Number of processes and threads, their placement, and the launcher."""

    ranks: Count = 1
    place: str = ""  # placement request for each node; "": one hardware thread per thread
    hosts: tuple[Host, ...] = ()  # reached by ssh; empty: this node, or those of the allocation
    launcher: str = ""  # "": the default of this environment
    link: str = ""  # emulated link between hosts on this machine: "100Mbit/s,delay=1ms"; "": none
    unstated: tuple[str, ...] = ()  # "ranks", "threads": counts that an imported file does not state


@dataclass(frozen=True)
class Presentation:
    """Presentation of the figures of a request."""

    title: str = ""
    table: bool = True  # a row of the terminal table; curves are in the report only
    short: str = ""  # short name: "Triad"; "": the first part of the title
    test: str = ""  # requested test of a benchmark: "PTRANS", "osu_bw"
    expressions: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict
    )  # sizes that were requested by memory level, by knob and bytes: {"bytes": {"1048576": "L2"}}
    purpose: Literal["", "limit"] = ""  # "limit": it only measures a limit of the other requests


@dataclass(frozen=True)
class Request:
    """Request of one measurement: subject, knobs and shape. A knob may have a list of values, a cell each."""

    subject: Subject
    knobs: Mapping[str, str] = field(default_factory=dict)
    shape: Shape = Shape()
    mpi: Mapping[str, str] = field(default_factory=dict)  # settings of the MPI library, under its own names
    show: Presentation = Presentation()
    repeats: Count = 1  # launches; each is a sample

    @cached_property
    def key(self) -> str:
        """The key of the request, the same on every machine and day, independent of spelling and presentation."""
        shape = self.shape
        knobs = sorted((name, self.subject.spelled(values)) for name, values in self.knobs.items())
        asked: list[object] = [*self.subject.started, knobs]
        asked += [shape.ranks, shape.place, list(shape.hosts), shape.launcher, sorted(self.mpi.items())]
        asked += [shape.link] if shape.link else []
        asked += [list(shape.unstated)] if shape.unstated else []
        name = self.subject.name.replace("/", "-")
        return f"{name}-{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:10]}"

    def launches(self) -> "tuple[Launch, ...]":
        """Return every launch, in order."""
        return tuple(Launch(self, repeat) for repeat in range(self.repeats))

    def cells(self) -> list[dict[str, str]]:
        """Return the knob values of each cell, in the order in which a kernel takes them."""
        return cells_of(self.knobs)


@dataclass(frozen=True)
class Launch:
    """One start of the processes of a request, or of its remaining cells."""

    request: Request
    repeat: int = 0
    knobs: Mapping[str, str] | None = None  # `None`: those of the request; else those of the remaining cells

    @property
    def key(self) -> str:
        """The name of the launch in plan and records."""
        return f"{self.request.key}-{self.repeat}"

    @property
    def started_knobs(self) -> Mapping[str, str]:
        """The knobs of this launch."""
        return self.request.knobs if self.knobs is None else self.knobs

    @property
    def words(self) -> list[str]:
        """The kernel's arguments."""
        return [f"{name}={value}" for name, value in self.started_knobs.items()]

    def cells(self) -> list[dict[str, str]]:
        """Return the knob values of each cell of this launch."""
        return cells_of(self.started_knobs)

    def without(self, done: Iterable[Mapping[str, str]]) -> "tuple[Launch, ...]":
        """Return the launches that cover exactly the missing cells of this one."""
        knobs, cells = self.started_knobs, self.cells()
        spelled = self.request.subject.spelled
        finished = {tuple(spelled(one.get(name, "")) for name in knobs) for one in done}
        missing = [cell for cell in cells if tuple(map(spelled, cell.values())) not in finished]
        if len(missing) == len(cells):
            return (self,)
        *outer, inner = [name for name, value in knobs.items() if "," in value] or [""]
        rest: dict[tuple[str, ...], list[str]] = {}  # values of the innermost list, for each combination of the others
        for cell in missing:
            rest.setdefault(tuple(cell[name] for name in outer), []).append(cell[inner])
        return tuple(
            replace(self, knobs={**knobs, **dict(zip(outer, chosen, strict=True)), inner: ",".join(values)})
            for chosen, values in rest.items()
        )

    def starts(self, alone: Collection[str] = ()) -> "tuple[Launch, ...]":
        """Return the processes to start: a kernel takes all its cells at once, a command line one at a time.

        Args:
            alone: knobs of the kernel whose values are started one by one (`Workload.alone` and `apart`).
        """
        knobs = self.started_knobs
        apart = {name: values for name, values in knobs.items() if self.request.subject.command or name in alone}
        return tuple(replace(self, knobs={**knobs, **cell}) for cell in cells_of(apart)) if apart else (self,)


RequestPairs = tuple[tuple[Request, Request], ...]
"""Pairs of requests of A and B that have a figure in common; each round measures all pairs."""


def cells_of(knobs: Mapping[str, str]) -> list[dict[str, str]]:
    """Return every combination of the values of these knobs, the last knob fastest."""
    lists = [value.split(",") for value in knobs.values()]
    return [dict(zip(knobs, values, strict=True)) for values in itertools.product(*lists)]


def cell_count(knobs: Mapping[str, str]) -> int:
    """Return the number of combinations of `cells_of`."""
    return math.prod(value.count(",") + 1 for value in knobs.values())


@functools.lru_cache(maxsize=4096)
def canonical(values: str) -> str:
    """Return values in one spelling: `preferred:0` for `prefer:0`, `2MiB` for `2048KiB` or `2m`.

    A number without a unit is unchanged, since it may be a count. NUMA nodes joined by commas are one value:
    `bind:0,1` becomes `bind:0+1`.
    """
    values = _NODES.sub(lambda nodes: nodes[0].replace(",", "+"), values)
    return ",".join(map(_canonical, values.split(",")))


def each_once(values: str) -> str:
    """Return a list without values that mean the same as an earlier one: a launch measures a cell once."""
    first: dict[str, str] = {}
    for value in values.split(","):
        first.setdefault(comparable(value), value)
    return ",".join(first.values())


def _canonical(value: str) -> str:
    head, colon, tail = value.partition(":")
    value = f"{renamed.spellings().get(head, head)}{colon}{tail}"
    if not value[-1:].isalpha() or not (size := _bytes(value)):
        return value
    exponent = min((size & -size).bit_length() - 1, 40) // 10
    return f"{size >> 10 * exponent}{('B', 'KiB', 'MiB', 'GiB', 'TiB')[exponent]}"


def _bytes(value: str) -> int | None:
    try:
        return units.parse_bytes(value)
    except ValueError:
        return None


def comparable_cell(knobs: Mapping[str, str], subject: str = "") -> tuple[tuple[str, str], ...]:
    """Return the knob values that distinguish the cells of a request, in comparable spelling.

    Args:
        subject: owner of the knobs, `family/name`; "": any kernel.
    """
    if is_program(subject):  # its knobs are arguments, which are not normalised
        return tuple(sorted(knobs.items()))
    return tuple(sorted((name, comparable(value)) for name, value in knobs.items() if name not in EFFORT))


def comparable_value(value: str, subject: str = "") -> str:
    """Return a knob's value in comparable spelling; of a user's program as it was written.

    Args:
        subject: owner of the knob, `family/name`; "": any kernel.
    """
    return value if is_program(subject) else comparable(value)


@functools.lru_cache(maxsize=4096)
def comparable(value: str) -> str:
    """Return a knob's value in a spelling shared by all values of the same meaning: sizes are in bytes."""
    spelled = canonical(value)
    size = _bytes(spelled)
    return spelled if size is None else str(size)
