"""`octant run … -- COMMAND` of what was asked of a user's program, with changes, in words that a shell leaves alone."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from octant.program import shell_text
from octant.runs.programs.command_text import shape_words, subject_words
from octant.runs.programs.placeholders import fill_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.request import Request


def program_line(
    request: Request,
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
    subject = request.subject
    variables = {**subject.environment, **(environment or {})}
    words = ["octant", "run", *(f"{name}={value}" for name, value in knobs.items())]
    words += shape_words(request, place)
    words += subject_words(replace(subject, environment=variables))
    words += ["--repeats", str(repeats)] if repeats else []
    words += ["--", *subject.command]
    return (shell_text(words),) if not request.mpi and all(word.isprintable() for word in words) else ()


def plain_line(request: Request, knobs: Mapping[str, str], before: Sequence[str]) -> tuple[str, ...]:
    """The program's own command line behind the words of another tool; none where its words cannot be typed."""
    known = {"ranks": str(request.shape.ranks), **knobs}
    words = [*before, *fill_words(request.subject.command, known)]
    return (shlex.join(words),) if all(word.isprintable() for word in words) else ()
