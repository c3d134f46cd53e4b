"""Commands to copy that measure a user's program again, with changes, quoted for a shell."""

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
    """Return the command that measures a program again; empty if it cannot be typed.

    Args:
        ask: with a command line.
        knobs: with the values to measure.
        environment: variables that are added or changed.
        place: of the ranks; "": as requested.
        repeats: launches; 0: the default.
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
    """Return the command line of the program under another tool; empty if it cannot be typed."""
    known = {"ranks": str(request.shape.ranks), **knobs}
    words = [*before, *fill_words(request.subject.command, known)]
    return (shlex.join(words),) if all(word.isprintable() for word in words) else ()
