"""Requests of programs that a file makes: their programs, ranks, and what two requests of one program read."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from octant.failure import Exit, Refusal
from octant.runs.programs import placeholders
from octant.runs.programs.launcher_line import program_name
from octant.runs.programs.permissions import known_command
from octant.runs.programs.request import other_threads

if TYPE_CHECKING:
    from collections.abc import Collection

    from octant.ask import Ask


def named(ask: Ask, states_ranks: bool, allowed: Collection[str]) -> Ask:
    """The request with the name of the program behind a launcher, and with the ranks that the launcher starts.

    Args:
        states_ranks: the file says how many ranks there are.
        allowed: what the user allows; see `allowed.known_command`.

    Raises:
        Refusal: no such launcher or program is on PATH, or its command line cannot be taken apart.
        ValueError: the launcher starts another number of ranks than the file says, or a variable states other threads.
    """
    if why := other_threads(ask.subject, ask.knobs):
        raise ValueError(f"{why}; write {{threads}} there, or leave it out")
    known = placeholders.known_of(ask, ask.cells()[0])
    words = placeholders.filled_words(ask.subject.command, known)
    variables = {name: placeholders.filled(value, known) for name, value in ask.subject.environment.items()}
    found = known_command(words, variables, allowed)
    own = words[found[1].program :] if found else words
    path = variables.get("PATH") or os.environ.get("PATH")
    if "/" not in own[0] and shutil.which(own[0], path=path) is None:
        raise Refusal(f"no program {own[0]} on PATH", Exit.NOT_SUPPORTED)
    ranks = found[1].ranks if found else None
    if ranks and states_ranks and ranks != ask.shape.ranks:
        raise ValueError(
            f"its launcher starts {ranks} ranks, and `ranks` comes to {ask.shape.ranks}; write {{ranks}} there"
        )
    shape = replace(ask.shape, ranks=ranks or ask.shape.ranks)
    written = ask.subject.command[found[1].program if found else 0 :]
    name = placeholders.PLACE.sub(r"\1", program_name(written))  # the same in all combinations: `app` of ./{app}
    return replace(ask, subject=replace(ask.subject, program=name), shape=shape)


def joined(first: Ask, second: Ask) -> Ask:
    """Two requests with the same key as one, which reads the values of both and makes the checks of both."""
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
