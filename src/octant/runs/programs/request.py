"""From the words behind `--` to what is asked of a user's program."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from octant import launchers
from octant.ask import Ask, Presentation, Shape, Subject, cells_of
from octant.failure import Exit, Refusal
from octant.launchers import JobSize
from octant.machine.discover import discover
from octant.runs.programs import fill
from octant.runs.requests import HERE, Where, check_options, host_names, requested
from octant.runs.rounds import LAUNCHES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.machine import Machine

_INTERPRETER = re.compile(r"python[\d.]*|perl|ruby|julia|Rscript|node|bash|sh|dash|zsh|ksh")


def program(
    words: Sequence[str],
    knobs: Sequence[str],
    ranks: int | None,
    repeats: int | None,
    where: Where = HERE,
    mpi: Mapping[str, str] | None = None,
) -> tuple[Ask, Machine]:
    """What `octant run … -- COMMAND` asks.

    Args:
        words: the command line of the program.
        knobs: `name=value` or `name=a,b`; `{name}` stands for the value.
        ranks: `None`: one, or as many as the command's own launcher starts.
        repeats: launches of each cell; `None`: the first launch decides.

    Raises:
        Refusal: no program, a knob that no braces name, the command line of a launcher that cannot be taken apart, or a
            placement that does not fit this machine.
    """
    if not words:
        raise Refusal("cannot run a program (no word stands behind --); try octant run -- ./app", Exit.WRONG_WORD)
    check_options(ranks, "", repeats)
    machine, asked = discover(), _knobs(knobs)
    request = requested(where.place, machine).request if where.place else None
    subject = Subject(command=tuple(words), directory=os.getcwd())  # noqa: PTH109 - text
    if unused := set(asked) - fill.named(subject) - {"threads"}:
        name = min(unused)
        why = f"no {{{name}}} stands in the command line"
        raise Refusal(f"cannot set {name} ({why}); write {{{name}}} where its value belongs", Exit.WRONG_WORD)
    first = fill.filled_words(words, {"ranks": str(ranks or 1), **cells_of(asked)[0]})
    found = launchers.recognise(first)
    own = first[found[1].program :] if found else first
    count = (found[1].ranks or 1) if found else ranks or (request.ranks if request else 1)
    if not found:
        launchers.chosen(where.launcher, JobSize(count))
    shape = Shape(count, str(request) if request else "", host_names(where.hosts), where.launcher)
    name = program_name(own)
    subject = Subject(command=tuple(words), program=name, directory=subject.directory)
    return Ask(subject, asked, shape, dict(mpi or {}), Presentation(name), repeats or LAUNCHES), machine


def program_name(words: Sequence[str]) -> str:
    """The name of a program: of its file, or of the script that an interpreter is given."""
    name = os.path.basename(words[0])  # noqa: PTH119 - text
    if _INTERPRETER.fullmatch(name):
        script = "" if "-c" in words[1:2] else next((word for word in words[1:] if not word.startswith("-")), "")
        name = os.path.basename(script) or name  # noqa: PTH119 - text
    return name


def _knobs(words: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not re.fullmatch(r"\w+", name) or not value:
            raise Refusal(f"cannot read {word[:60]!r} (not of the form knob=value); try n=1,2,4", Exit.WRONG_WORD)
        if name in found:
            raise Refusal(f"cannot set {name} twice; give several values as {name}=a,b", Exit.WRONG_WORD)
        found[name] = value
    return found
