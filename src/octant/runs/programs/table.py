"""A user's program in a study or suite file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from typing import Annotated

from msgspec import Meta
from msgspec.structs import fields

from octant.failure import Refusal, near
from octant.program import STDOUT, Better, ProgramProfile, ProgramValue
from octant.request import Subject
from octant.runs.programs import grammar, placeholders
from octant.runs.programs.options import ProgramOptions
from octant.untrusted import InputTable

Problem = tuple[str, str]
"""A key, and its error message: "cause; what to do"."""
MAX_WORDS = 10_000
Word = Annotated[str, Meta(pattern=r"^[^\x00]*\Z", max_length=100_000)]
Words = Annotated[tuple[Word, ...], Meta(min_length=1, max_length=MAX_WORDS)]


class ValueTable(InputTable, frozen=True, kw_only=True):
    """A number in the output of the program (`octant.program.ProgramValue`)."""

    name: str
    unit: str = "1"
    better: Better | None = None  # `None`: lower for times, else higher
    source: str = STDOUT
    pattern: str = ""
    path: str = ""

    @property
    def text(self) -> str:
        """The value as a text of `--value`."""
        wanted = f"json:{self.path}" if self.path else self.pattern
        return f"{self.name}[{self.unit},{self.better or ''},{self.source}]={wanted}"


class ProgramTable(InputTable, frozen=True, kw_only=True):
    """A program in a request of a file. The other keys require `command`."""

    command: Annotated[tuple[Word, ...], Meta(max_length=MAX_WORDS)] = ()
    environment: Mapping[str, Word] = {}
    input: Word = ""  # file for standard input
    fresh: bool = False  # each launch works in a copy of the directory
    values: tuple[ValueTable, ...] = ()
    profile: bool = False  # record the MPI calls
    checks: tuple[str, ...] = ()  # texts of `--check`
    keep: tuple[Word, ...] = ()  # files of the program that are stored with the run
    before: tuple[Words, ...] = ()  # commands that run before each launch
    after: tuple[Words, ...] = ()

    @property
    def subject(self) -> Subject:
        """The program as the subject of a request; its working directory is that of Octant.

        Raises:
            Refusal: a key is invalid; `problems` names it.
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
        profile = ProgramProfile() if self.profile else None
        return options.subject(self.command, directory=os.getcwd(), profile=profile)  # noqa: PTH109 - text


def problems(table: ProgramTable) -> Iterator[Problem]:
    """Yield the errors in the table of a program."""
    if not table.command:
        for field in fields(ProgramTable):
            if getattr(table, field.name) != getattr(ProgramTable(), field.name):
                yield field.name, "this key requires `command`; add it"
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
    """Return why a program cannot have a knob; "": it occurs in braces, or is the number of threads."""
    named = placeholders.placeholder_names(table.subject)
    if knob in {"threads", *named}:
        return ""
    close = near(knob, named)
    hint = f"did you mean {' or '.join(close)}?" if close else f"write {{{knob}}} where its value belongs"
    return f"the command line does not contain {{{knob}}}; {hint}"


def _value_problem(one: ValueTable) -> str:
    if bool(one.pattern) == bool(one.path):
        return "a value needs either `pattern` (regular expression) or `path` (JSON); give one of them"
    try:
        found = grammar.read_value(one.text)
    except Refusal as refusal:
        return str(refusal)
    wanted = ProgramValue(one.name, one.unit, one.better or found.better, one.source, one.pattern, one.path)
    return (
        ""
        if found == wanted
        else "name, unit and source must not contain commas or brackets, or begin or end with blanks; rename"
    )
