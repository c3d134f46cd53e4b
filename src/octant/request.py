"""What is asked and what is started: asks, their cells, and the launches that answer them, as data.

The bounds of fields are those within which a stored ask is read; whoever makes one keeps them.
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
from typing import Annotated

from msgspec import Meta

from octant import units
from octant.program import FAMILY, ProgramCheck, ProgramValue, is_program

EFFORT = frozenset({"seconds", "samples", "least", "precision"})
"""Knobs of kernels that say how long to measure, not what."""


def effort_knobs(subject: str) -> frozenset[str]:
    """Return the knobs of a subject, `family/name`, that say how long to measure: none of a user's program.

    A program has the knobs that its user chose for its command line, whatever they are called.
    """
    return frozenset() if is_program(subject) else EFFORT


_OLD_SPELLINGS = {"4k": "4KiB", "64k": "64KiB", "2m": "2MiB", "16m": "16MiB", "1g": "1GiB", "prefer": "preferred"}
"""Values, up to a colon, that are read and no longer written."""
_NODES = re.compile("(?:bind|interleave):[0-9-]+(?:[,+][0-9-]+)*")
"""Memory nodes as the knob `memory` and numactl write them."""


Count = Annotated[int, Meta(ge=1, le=10_000_000)]
Name = Annotated[str, Meta(pattern=r"^([a-z0-9_]+/[a-z0-9_]+)?\Z")]
"""Of a workload; it becomes a part of a file's name."""
ProgramName = Annotated[str, Meta(pattern=r"^[^/\x00-\x1f\x7f]{0,80}\Z")]
"""Of a user's program; it becomes a part of a file's name."""
Host = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@-]*\Z")]
"""As `runs.command_line` takes it: ssh takes `-o…` for an option."""


@dataclass(frozen=True)
class Subject:
    """What is started: a workload's kernel, or a user's program.

    The words of a command line, the values of its variables and the name of its input file may contain `{knob}`, for
    which a launch fills in the value of that knob.
    """

    workload: Name = ""  # family/name
    command: tuple[str, ...] = ()  # as the user wrote it, the launcher's words included
    program: ProgramName = ""  # the name of the program behind the launcher; "": the first word's
    environment: Mapping[str, str] = field(default_factory=dict)  # set for the launches
    input: str = ""  # file for standard input; "": it is empty
    directory: str = ""  # in which the program works; "": that of Octant
    fresh: bool = False  # each launch works in a copy of the directory
    values: tuple[ProgramValue, ...] = ()
    checks: tuple[ProgramCheck, ...] = ()
    statuses: tuple[int, ...] = (0,)  # exit statuses of a launch that did not fail
    keep: tuple[str, ...] = ()  # files of the program that are stored with the run
    before: tuple[tuple[str, ...], ...] = ()  # commands that run before each launch
    after: tuple[tuple[str, ...], ...] = ()

    @property
    def name(self) -> str:
        """The workload's name, or `program/` and the program's."""
        return self.workload or f"{FAMILY}/{self.program or self.command[0].rpartition('/')[2]}"

    @property
    def started(self) -> list[object]:
        """What tells it from other subjects: all that may change what a launch does, as JSON knows it."""
        further = {
            "environment": sorted(self.environment.items()),
            "input": self.input,
            "directory": self.directory,
            "fresh": self.fresh,
            "before": self.before,
            "after": self.after,
        }
        stated = {name: value for name, value in further.items() if value}
        return [self.workload, list(self.command), *([stated] if stated else [])]

    def spelled(self, values: str) -> str:
        """Return a knob's value, or a list of them, in one spelling; a program's argument is what was written."""
        return values if self.command else canonical(values)


@dataclass(frozen=True)
class Shape:
    """How many processes and threads, where they are, and who starts them."""

    ranks: Count = 1
    place: str = ""  # a placement request for each node; "": every thread on a hardware thread of its own
    hosts: tuple[Host, ...] = ()  # reached by ssh; empty: this node, or those of the allocation
    launcher: str = ""  # "": the one that is at hand
    link: str = ""  # emulated hosts on this machine and what joins them: "100Mbit/s,delay=1ms"; "": none
    unstated: tuple[str, ...] = ()  # "ranks", "threads": what an imported file does not state, whatever stands here


@dataclass(frozen=True)
class Presentation:
    """How the figures of a request are shown."""

    title: str = ""
    table: bool = True  # a row of the terminal table; curves show in the report only
    short: str = ""  # what is measured in a word or two: "Triad"; "": the title's first part
    test: str = ""  # the test of a benchmark that is asked for, by the name that was given: "PTRANS", "osu_bw"


@dataclass(frozen=True)
class Request:
    """One question: a subject, its knobs and the shape. A knob's value may be a list (`1KiB,2KiB`): a cell each."""

    subject: Subject
    knobs: Mapping[str, str] = field(default_factory=dict)
    shape: Shape = Shape()
    mpi: Mapping[str, str] = field(default_factory=dict)  # settings of the MPI library, under its own names
    show: Presentation = Presentation()
    repeats: Count = 1  # launches; each is a sample

    @cached_property
    def key(self) -> str:
        """The same question, the same key, on every machine and day, however it is spelled and shown."""
        shape = self.shape
        knobs = sorted((name, self.subject.spelled(values)) for name, values in self.knobs.items())
        asked: list[object] = [*self.subject.started, knobs]
        asked += [shape.ranks, shape.place, list(shape.hosts), shape.launcher, sorted(self.mpi.items())]
        asked += [shape.link] if shape.link else []
        asked += [list(shape.unstated)] if shape.unstated else []
        name = self.subject.name.replace("/", "-")
        return f"{name}-{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:10]}"

    def launches(self) -> "tuple[Launch, ...]":
        """Every launch of it, in turn."""
        return tuple(Launch(self, repeat) for repeat in range(self.repeats))

    def cells(self) -> list[dict[str, str]]:
        """The knob values of each cell, in the order in which a kernel takes them."""
        return cells_of(self.knobs)


@dataclass(frozen=True)
class Launch:
    """One start of processes: a request, or what is left of it, for the n-th time."""

    request: Request
    repeat: int = 0
    knobs: Mapping[str, str] | None = None  # `None`: the request's; else those of the cells that are left

    @property
    def key(self) -> str:
        """Names the launch in plan and records."""
        return f"{self.request.key}-{self.repeat}"

    @property
    def started_knobs(self) -> Mapping[str, str]:
        """The knobs that this start is given."""
        return self.request.knobs if self.knobs is None else self.knobs

    @property
    def words(self) -> list[str]:
        """The kernel's arguments."""
        return [f"{name}={value}" for name, value in self.started_knobs.items()]

    def cells(self) -> list[dict[str, str]]:
        """The knob values of each cell that this start covers."""
        return cells_of(self.started_knobs)

    def without(self, done: Iterable[Mapping[str, str]]) -> "tuple[Launch, ...]":
        """The launches that cover exactly the cells of this one that are not done."""
        knobs, cells = self.started_knobs, self.cells()
        spelled = self.request.subject.spelled
        finished = {tuple(spelled(one.get(name, "")) for name in knobs) for one in done}
        missing = [cell for cell in cells if tuple(map(spelled, cell.values())) not in finished]
        if len(missing) == len(cells):
            return (self,)
        *outer, inner = [name for name, value in knobs.items() if "," in value] or [""]
        rest: dict[tuple[str, ...], list[str]] = {}  # values of the innermost list, for each choice from the others
        for cell in missing:
            rest.setdefault(tuple(cell[name] for name in outer), []).append(cell[inner])
        return tuple(
            replace(self, knobs={**knobs, **dict(zip(outer, chosen, strict=True)), inner: ",".join(values)})
            for chosen, values in rest.items()
        )

    def starts(self, alone: Collection[str] = ()) -> "tuple[Launch, ...]":
        """What has to be started: a kernel takes all its cells at once, a command line one at a time.

        Args:
            alone: knobs of the kernel's whose values are started one by one (`Workload.alone` and `apart`).
        """
        knobs = self.started_knobs
        apart = {name: values for name, values in knobs.items() if self.request.subject.command or name in alone}
        return tuple(replace(self, knobs={**knobs, **cell}) for cell in cells_of(apart)) if apart else (self,)


def cells_of(knobs: Mapping[str, str]) -> list[dict[str, str]]:
    """Every combination of the values of these knobs, the last knob fastest."""
    lists = [value.split(",") for value in knobs.values()]
    return [dict(zip(knobs, values, strict=True)) for values in itertools.product(*lists)]


def cell_count(knobs: Mapping[str, str]) -> int:
    """How many combinations `cells_of` gives."""
    return math.prod(value.count(",") + 1 for value in knobs.values())


@functools.lru_cache(maxsize=4096)
def canonical(values: str) -> str:
    """One spelling of a knob's value, or of each in a list: `preferred:0` for `prefer:0`, `2MiB` for `2048KiB` or `2m`.

    A number without a unit stays as it is: it may be a count. Memory nodes that are joined by commas are one value:
    `bind:0,1` becomes `bind:0+1`.
    """
    values = _NODES.sub(lambda nodes: nodes[0].replace(",", "+"), values)
    return ",".join(map(_canonical, values.split(",")))


def each_once(values: str) -> str:
    """A list without the values that mean the same as an earlier one: a launch measures a cell once."""
    first: dict[str, str] = {}
    for value in values.split(","):
        first.setdefault(comparable(value), value)
    return ",".join(first.values())


def _canonical(value: str) -> str:
    head, colon, tail = value.partition(":")
    value = f"{_OLD_SPELLINGS.get(head, head)}{colon}{tail}"
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
    """The values of knobs that tell the cells of a request apart, in the spelling that all of the same meaning share.

    Args:
        subject: whose knobs these are, `family/name`; "": any kernel's.
    """
    if is_program(subject):  # its knobs are arguments, as they were written
        return tuple(sorted(knobs.items()))
    return tuple(sorted((name, comparable(value)) for name, value in knobs.items() if name not in EFFORT))


def comparable_value(value: str, subject: str = "") -> str:
    """A knob's value in the spelling that all of the same meaning share; of a user's program it is what was written.

    Args:
        subject: whose knob it is, `family/name`; "": any kernel's.
    """
    return value if is_program(subject) else comparable(value)


@functools.lru_cache(maxsize=4096)
def comparable(value: str) -> str:
    """A knob's value in the spelling that all of the same meaning share: sizes are in bytes."""
    spelled = canonical(value)
    size = _bytes(spelled)
    return spelled if size is None else str(size)
