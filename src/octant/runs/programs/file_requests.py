"""Requests of programs in study and suite files: their programs, their ranks, and the union of equal requests."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from octant import build
from octant.failure import Exit, Refusal
from octant.runs.programs import placeholders
from octant.runs.programs.launcher_line import program_name
from octant.runs.programs.permissions import known_command
from octant.runs.programs.program_request import other_threads

if TYPE_CHECKING:
    from collections.abc import Collection

    from octant.request import Request


def with_program_name(request: Request, states_ranks: bool, allowed: Collection[str]) -> Request:
    """Return the request with the name of its program and the ranks that its launcher starts.

    Args:
        states_ranks: the file states the number of ranks.
        allowed: permissions of the user; see `permissions.known_command`.

    Raises:
        Refusal: the launcher or program is not on PATH, or its command line cannot be parsed.
        ValueError: the launcher starts another number of ranks than the file states, or a variable sets another number
            of threads.
    """
    if why := other_threads(request.subject, request.knobs):
        raise ValueError(f"{why}; write {{threads}} there, or remove it")
    known = placeholders.cell_values(request, request.cells()[0])
    words = placeholders.fill_words(request.subject.command, known)
    variables = {name: placeholders.fill_text(value, known) for name, value in request.subject.environment.items()}
    found = known_command(words, variables, allowed)
    program_words = words[found[1].program :] if found else words
    path = variables.get("PATH") or os.environ.get("PATH")
    is_found = "/" in program_words[0] or build.example_named(program_words[0])
    if not is_found and shutil.which(program_words[0], path=path) is None:
        raise Refusal(f"program {program_words[0]} is not on PATH", Exit.NOT_SUPPORTED)
    ranks = found[1].ranks if found else None
    if ranks and states_ranks and ranks != request.shape.ranks:
        raise ValueError(
            f"its launcher starts {ranks} ranks, but `ranks` is {request.shape.ranks}; write {{ranks}} there"
        )
    shape = replace(request.shape, ranks=ranks or request.shape.ranks)
    written = request.subject.command[found[1].program if found else 0 :]
    name = placeholders.PLACEHOLDER.sub(r"\1", program_name(written))  # equal for all combinations: `app` for ./{app}
    return replace(request, subject=replace(request.subject, program=name), shape=shape)


def merge_requests(first: Request, second: Request) -> Request:
    """Return the union of two requests with the same key, with the values and checks of both."""
    if not first.subject.command or first.subject == second.subject:
        return first
    one, other = first.subject, second.subject
    names = {value.name for value in one.values}
    subject = replace(
        one,
        values=(*one.values, *(value for value in other.values if value.name not in names)),
        checks=tuple(dict.fromkeys((*one.checks, *other.checks))),
        keep=tuple(dict.fromkeys((*one.keep, *other.keep))),
    )
    return replace(first, subject=subject)
