"""`octant run … -- COMMAND` of what was asked of a user's program, with changes, in words that a shell leaves alone."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from octant.failure import Refusal
from octant.program import STDOUT, shell_text
from octant.runs.programs.fill import filled_words
from octant.runs.programs.grammar import read_value
from octant.runs.programs.options import option_words
from octant.runs.programs.request import program_name
from octant.runs.programs.typed import check_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.ask import Ask
    from octant.program import ProgramValue


def program_line(
    ask: Ask,
    knobs: Mapping[str, str],
    environment: Mapping[str, str] | None = None,
    place: str = "",
    repeats: int = 0,
) -> tuple[str, ...]:
    """The command that measures a program again; none where its words cannot be typed.

    Args:
        ask: with a command line.
        knobs: with the values to measure.
        environment: variables that are added, or have another value.
        place: of the ranks; "": as it was asked.
        repeats: launches; 0: as many as are usual.
    """
    subject, shape = ask.subject, ask.shape
    variables = {**subject.environment, **(environment or {})}
    words = ["octant", "run", *(f"{name}={value}" for name, value in knobs.items())]
    if shape.ranks > 1 and not place and not has_launcher(ask):
        words += ["--ranks", str(shape.ranks)]
    for option, text in (("--place", place or shape.place), ("--launcher", shape.launcher), ("--link", shape.link)):
        words += option_words(option, [text] if text else [])
    words += option_words("--hosts", [",".join(shape.hosts)] if shape.hosts else [])
    words += option_words("--env", [f"{name}={value}" for name, value in variables.items()])
    words += option_words("--input", [subject.input] if subject.input else [])
    words += ["--fresh-dir"] * subject.fresh
    words += option_words("--value", map(value_text, subject.values))
    words += option_words("--check", [*map(check_text, subject.checks), *_status_texts(subject.statuses)])
    words += option_words("--keep", subject.keep)
    words += option_words("--before", map(shell_text, subject.before))
    words += option_words("--after", map(shell_text, subject.after))
    words += ["--repeats", str(repeats)] if repeats else []
    words += ["--", *subject.command]
    return (shell_text(words),) if not ask.mpi and all(word.isprintable() for word in words) else ()


def plain_line(ask: Ask, knobs: Mapping[str, str], before: Sequence[str]) -> tuple[str, ...]:
    """The program's own command line behind the words of another tool; none where its words cannot be typed."""
    known = {"ranks": str(ask.shape.ranks), **knobs}
    words = [*before, *filled_words(ask.subject.command, known)]
    return (shlex.join(words),) if all(word.isprintable() for word in words) else ()


def has_launcher(ask: Ask) -> bool:
    """Whether the command line begins with a launcher of its own, behind which the program is."""
    program = ask.subject.program
    return bool(program) and program_name(ask.subject.command) != program


def value_text(value: ProgramValue) -> str:
    """A value as `--value` takes it: `rate[Mop/s]=total *= *([0-9.]+)`."""
    wanted = f"json:{value.path}" if value.path else value.pattern
    brackets: tuple[str, ...] = ()
    for brackets in ((), (value.unit,), (value.unit, value.better), (value.unit, value.better, value.source)):
        listed = ",".join(brackets)
        text = f"{value.name}[{listed}]={wanted}" if brackets else f"{value.name}={wanted}"
        if value.source != STDOUT and len(brackets) < 3:
            continue
        try:
            if read_value(text) == value:
                break
        except Refusal:  # a store may hold what no option says
            continue
    return text


def _status_texts(statuses: Sequence[int]) -> list[str]:
    return [] if tuple(statuses) == (0,) else [f"exit={','.join(map(str, statuses))}"]
