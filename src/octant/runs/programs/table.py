"""A user's program in a file of requests: a study or a suite names it in the words of its command line."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Mapping
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import asdict, fields

from octant.ask import Subject
from octant.failure import near, suggestion
from octant.program import STDOUT, Better, ProgramCheck, ProgramValue
from octant.runs.programs import fill
from octant.untrusted import InputTable

Problem = tuple[str, str]
"""A key, and "what is wrong with it; what to do"."""
MOST_WORDS = 10_000
Word = Annotated[str, Meta(pattern=r"^[^\x00]*\Z", max_length=100_000)]
Words = Annotated[tuple[Word, ...], Meta(min_length=1, max_length=MOST_WORDS)]
VariableName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\Z")]
ALWAYS = frozenset(
    {
        "wall time", "user time", "system time", "memory", "minor page faults", "major page faults",
        "voluntary context switches", "involuntary context switches",
    }
)  # fmt: skip
"""Results that every program has."""
_VALUE_NAME = re.compile(r"[\w./-](?:[\w ./-]*[\w./-])?")


class ValueTable(InputTable, frozen=True, kw_only=True):
    """A number that the program prints or writes (`octant.program.ProgramValue`)."""

    name: str
    unit: str = "1"
    better: Better | None = None  # `None`: lower for times in seconds, else higher
    source: str = STDOUT
    pattern: str = ""
    path: str = ""

    @property
    def value(self) -> ProgramValue:
        """The value as a request has it."""
        better: Better = self.better or ("lower" if self.unit == "s" else "higher")
        return ProgramValue(self.name, self.unit, better, self.source, self.pattern, self.path)


class CheckTable(InputTable, frozen=True, kw_only=True):
    """What makes the answer of the program right (`octant.program.ProgramCheck`)."""

    kind: Literal["value", "file", "command"]
    value: str = ""
    tolerance: Annotated[float, Meta(ge=0, le=1e300)] = 0.0
    relative: bool = True
    expected: Annotated[float, Meta(ge=-1e300, le=1e300)] | None = None
    file: Word = ""
    reference: Word = ""
    command: tuple[Word, ...] = ()

    @property
    def check(self) -> ProgramCheck:
        """The check as a request has it."""
        return ProgramCheck(**asdict(self))


class ProgramTable(InputTable, frozen=True, kw_only=True):
    """What a request of a file says of a program; without `command` it names none, and says nothing else here."""

    command: Annotated[tuple[Word, ...], Meta(max_length=MOST_WORDS)] = ()
    environment: Mapping[VariableName, Word] = {}
    input: Word = ""  # file for standard input
    fresh: bool = False  # each launch works in a copy of the directory
    values: tuple[ValueTable, ...] = ()
    checks: tuple[CheckTable, ...] = ()
    keep: tuple[Word, ...] = ()  # files of the program that are stored with the run
    before: tuple[Words, ...] = ()  # commands that run before each launch
    after: tuple[Words, ...] = ()

    @property
    def subject(self) -> Subject:
        """The program as the subject of a request; it works in the directory in which Octant was started."""
        return Subject(
            command=self.command,
            environment=dict(self.environment),
            input=self.input,
            directory=os.getcwd(),  # noqa: PTH109 - text
            fresh=self.fresh,
            values=tuple(one.value for one in self.values),
            checks=tuple(one.check for one in self.checks),
            keep=self.keep,
            before=self.before,
            after=self.after,
        )


def problems(table: ProgramTable) -> Iterator[Problem]:
    """What of a program's table has no meaning."""
    if not table.command:
        for field in fields(ProgramTable):
            if getattr(table, field.name) != getattr(ProgramTable(), field.name):
                yield field.name, "only a program has this key; add `command`"
        return
    if not table.command[0]:
        yield "command", "its first word is empty; name a program"
    names: set[str] = set()
    for n, one in enumerate(table.values):
        for key, problem in _value_problems(one, names):
            yield f"values.{n}.{key}", problem
        names.add(one.name)
    for n, check in enumerate(table.checks):
        wanted = {"value": check.value, "file": check.file, "command": check.command}
        if not wanted[check.kind]:
            yield f"checks.{n}.{check.kind}", f"a check of this kind needs `{check.kind}`; add it"
        if check.kind == "value" and check.value not in names | ALWAYS:
            yield f"checks.{n}.value", f"no value {check.value!r}; {suggestion(check.value, [*names, *ALWAYS])}"


def knob_problem(table: ProgramTable, knob: str) -> str:
    """Why a program cannot have a knob; "" if braces name it, or it is the number of threads."""
    named = fill.named(table.subject)
    if knob == "threads" or knob in named:
        return ""
    close = near(knob, named)
    hint = f"did you mean {' or '.join(close)}?" if close else f"write {{{knob}}} where its value belongs"
    return f"no {{{knob}}} stands in the command line; {hint}"


def _value_problems(one: ValueTable, names: Container[str]) -> Iterator[Problem]:
    if not _VALUE_NAME.fullmatch(one.name):
        yield "name", f"{one.name!r} has more than letters, digits, blanks and - _ . /; rename it"
    if one.name in ALWAYS:
        yield "name", f"{one.name} is measured of every program; rename it"
    if one.name in names:
        yield "name", f"two values are named {one.name!r}; rename one"
    if bool(one.pattern) == bool(one.path):
        yield "pattern", "a value has either a regular expression or a path in JSON; give one of `pattern` and `path`"
    try:
        re.compile(one.pattern)
    except re.error as error:
        yield "pattern", f"no regular expression: {error}; correct it"
