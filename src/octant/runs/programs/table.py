"""A user's program in a file of requests: a study or a suite names it in the words of its command line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from typing import Annotated

from msgspec import Meta
from msgspec.structs import fields

from octant.ask import Subject
from octant.failure import Refusal, near
from octant.program import STDOUT, Better, ProgramValue
from octant.runs.programs import grammar, placeholders
from octant.runs.programs.options import ProgramOptions
from octant.untrusted import InputTable

Problem = tuple[str, str]
"""A key, and "what is wrong with it; what to do"."""
MOST_WORDS = 10_000
Word = Annotated[str, Meta(pattern=r"^[^\x00]*\Z", max_length=100_000)]
Words = Annotated[tuple[Word, ...], Meta(min_length=1, max_length=MOST_WORDS)]


class ValueTable(InputTable, frozen=True, kw_only=True):
    """A number that the program prints or writes (`octant.program.ProgramValue`)."""

    name: str
    unit: str = "1"
    better: Better | None = None  # `None`: lower for times, else higher
    source: str = STDOUT
    pattern: str = ""
    path: str = ""

    @property
    def text(self) -> str:
        """The same as a text of `--value`."""
        wanted = f"json:{self.path}" if self.path else self.pattern
        return f"{self.name}[{self.unit},{self.better or ''},{self.source}]={wanted}"


class ProgramTable(InputTable, frozen=True, kw_only=True):
    """What a request of a file says of a program; without `command` it names none, and says nothing else here."""

    command: Annotated[tuple[Word, ...], Meta(max_length=MOST_WORDS)] = ()
    environment: Mapping[str, Word] = {}
    input: Word = ""  # file for standard input
    fresh: bool = False  # each launch works in a copy of the directory
    values: tuple[ValueTable, ...] = ()
    checks: tuple[str, ...] = ()  # texts of `--check`
    keep: tuple[Word, ...] = ()  # files of the program that are stored with the run
    before: tuple[Words, ...] = ()  # commands that run before each launch
    after: tuple[Words, ...] = ()

    @property
    def subject(self) -> Subject:
        """The program as the subject of a request; it works in the directory in which Octant was started.

        Raises:
            Refusal: a part has a mistake that `problems` names.
        """
        options = ProgramOptions(
            value=tuple(one.text for one in self.values),
            check=self.checks,
            env=tuple(f"{name}={value}" for name, value in self.environment.items()),
            input=self.input,
            fresh_dir=self.fresh,
            keep=self.keep,
            before=tuple(map(shlex.join, self.before)),
            after=tuple(map(shlex.join, self.after)),
        )
        return options.subject(self.command, directory=os.getcwd())  # noqa: PTH109 - text


def problems(table: ProgramTable) -> Iterator[Problem]:
    """What of a program's table has no meaning."""
    if not table.command:
        for field in fields(ProgramTable):
            if getattr(table, field.name) != getattr(ProgramTable(), field.name):
                yield field.name, "only a program has this key; add `command`"
        return
    for n, one in enumerate(table.values):
        if why := _value_problem(one):
            yield f"values.{n}", why
    for n, text in enumerate(table.checks):
        try:
            grammar.read_checks([text])
        except Refusal as refusal:
            yield f"checks.{n}", str(refusal)
    try:
        _ = table.subject
    except Refusal as refusal:
        yield "command", str(refusal)


def knob_problem(table: ProgramTable, knob: str) -> str:
    """Why a program cannot have a knob; "" if braces name it, or it is the number of threads."""
    named = placeholders.named(table.subject)
    if knob in {"threads", *named}:
        return ""
    close = near(knob, named)
    hint = f"did you mean {' or '.join(close)}?" if close else f"write {{{knob}}} where its value belongs"
    return f"no {{{knob}}} stands in the command line; {hint}"


def _value_problem(one: ValueTable) -> str:
    if bool(one.pattern) == bool(one.path):
        return "a value has either a regular expression or a path in JSON; give one of `pattern` and `path`"
    try:
        found = grammar.read_value(one.text)
    except Refusal as refusal:
        return str(refusal)
    wanted = ProgramValue(one.name, one.unit, one.better or found.better, one.source, one.pattern, one.path)
    return (
        ""
        if found == wanted
        else "its name, unit and source cannot have commas, brackets or blanks at the ends; rename"
    )
