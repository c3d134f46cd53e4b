"""From the words behind `--` to what is asked of a user's program."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from octant.ask import Ask, Presentation, Shape, cell_count, cells_of
from octant.failure import Exit, Refusal, near
from octant.launchers import Job
from octant.machine.discover import discover
from octant.placement.expressions import parse_place
from octant.placement.request import Request
from octant.program import shell_text
from octant.runs.programs import launcher_line, placeholders
from octant.runs.programs.options import ProgramOptions, option_words
from octant.runs.requests import HERE, Where, check_directives, check_full_nodes, check_options, host_names, requested
from octant.runs.rounds import LAUNCHES
from octant.store import open_store
from octant.store.environment import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from octant.ask import Subject
    from octant.machine import Machine

MOST_CELLS = 10_000
"""Combinations of the values of a program's knobs."""
RESERVED = frozenset({"seconds", "samples", "least", "precision", "groups"})
"""Names of knobs that have another meaning for the analysis of workloads: how long to measure, and groups of ranks."""
_KNOB = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def program(
    words: Sequence[str],
    knobs: Sequence[str],
    ranks: int | None,
    repeats: int | None,
    where: Where = HERE,
    mpi: Mapping[str, str] | None = None,
    options: ProgramOptions | None = None,
) -> tuple[Ask, Machine]:
    """Return what `octant run … -- COMMAND` asks.

    Args:
        words: the command line of the program.
        knobs: `name=value` or `name=a,b`; `{name}` stands for the value.
        ranks: `None`: one, or as many as the command's own launcher starts.
        repeats: launches of each cell; `None`: the first launch decides.
        mpi: settings of the MPI library, under its own names.

    Raises:
        Refusal: no program, an option or a knob with a mistake, the command line of a launcher that cannot be taken
            apart, or a placement that does not fit this machine or this command line.
    """
    subject = (options or ProgramOptions()).subject(words, directory=os.getcwd())  # noqa: PTH109 - text
    check_options(ranks, "", repeats)
    machine, asked = discover(), read_knobs(knobs, subject)
    request = requested(where.place, machine).request if where.place else None
    if request and "threads" not in asked and "OMP_NUM_THREADS" not in subject.environment:
        asked["threads"] = str(request.threads)
    started = launcher_line.recognised(subject, asked, ranks)
    if started:
        count, own = launcher_line.launcher_ranks(started, ranks, where, request), started.program
        launcher_line.check_named_ranks(subject, started, asked)
    else:
        count = launcher_line.own_ranks(ranks, where, request, asked)
        own = tuple(placeholders.filled_words(words, {"ranks": str(count), **cells_of(asked)[0]}))
    launcher_line.check_hidden(own, subject.environment.get("PATH"), where, None if started else ranks)
    name = launcher_line.program_name(own)
    shape = Shape(count, str(request) if request else "", host_names(where.hosts), where.launcher)
    subject = replace(subject, program=name)
    return Ask(subject, asked, shape, dict(mpi or {}), Presentation(name), repeats or LAUNCHES), machine


def remarks(ask: Ask) -> tuple[str, ...]:
    """Return what the user has to know of a program before it starts."""
    found = []
    for name in filter(is_secret_name, ask.subject.environment):
        instead = f"to keep it out, set it before the command: {name}=… octant run …"
        found.append(f"the value of {name} is stored with the run, because --env sets it; {instead}")
    return (*found, *launcher_line.remarks(ask))


def check_mpi(ask: Ask, library: str) -> None:
    """Refuse settings of the MPI library for a program that is not known to use it.

    Args:
        library: the MPI library of Octant's own kernels, whose names and values the settings have.

    Raises:
        Refusal: no launcher of this library starts the program.
    """
    started = launcher_line.recognised(ask.subject, ask.knobs, ask.shape.ranks)
    if started:
        if started.launcher.startswith(library):
            return
        why = f"{started.name} is the launcher of {started.launcher}, and the settings are those of {library}"
    elif ask.shape.ranks > 1 and ask.shape.launcher in ("", "mpiexec"):
        return
    else:
        why = "nothing says that this program uses MPI"
    raise Refusal(f"cannot use --mpi ({why}); try --env with the variable of its library", Exit.WRONG_WORD)


def title(words: Sequence[str], knobs: Sequence[str], options: Sequence[str]) -> str:
    """Return the title of a run: the command as the user types it behind `octant run`, without `--` if it is first."""
    return shell_text([*knobs, *options, *(["--"] if knobs or options else []), *words])


def job(
    words: Sequence[str],
    knobs: Sequence[str],
    ranks: int | None,
    options: ProgramOptions,
    where: Where,
    store: Path | None,
    minutes: int,
    directives: tuple[str, ...],
    further: Sequence[str] = (),
) -> Job:
    """Return `octant run … -- COMMAND` as a job; the placement is read here, and worked out where the job runs.

    Args:
        further: other options of the command, as words.

    Raises:
        Refusal: as `program`, but a launcher of a placement or a number of ranks is not tried here.
    """
    check_directives(directives)
    subject = options.subject(words)
    asked = read_knobs(knobs, subject)
    try:
        request = parse_place(where.place, discover().topology) if where.place else None
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    started = launcher_line.recognised(subject, asked, ranks)
    if where.hosts:
        raise Refusal("cannot use --hosts in a job (the batch system chooses them); leave it out", Exit.WRONG_WORD)
    count = launcher_line.launcher_ranks(started, ranks, Where(where.place), request) if started else ranks
    if started:  # the job has room for the largest cell
        count = max(filter(None, started.ranks), default=count)
    placed = request or Request(ranks=count or 1)
    own, path = started.program if started else words, subject.environment.get("PATH")
    launcher_line.check_hidden(own, path, Where(where.place), None if started else ranks)
    name = launcher_line.program_name(own)
    total = count or placed.ranks
    check_full_nodes(total, placed)
    threads = max((int(word) for word in asked.get("threads", "1").split(",") if word.isdecimal()), default=1)
    line = [sys.executable, "-m", "octant.cli", "run", *knobs, "--store", str(open_store(store).root.resolve())]
    line += option_words("--ranks", [str(total)] if not started and (ranks or request is None) else [])
    line += option_words("--place", [where.place] if where.place else [])
    return Job(
        (*line, *options.words, *further),
        Path.cwd(),
        placed.ranks,
        placed.threads if request else threads,
        total // placed.ranks,
        minutes,
        re.sub(r"[^\w.-]+", "-", f"octant-{name}"),
        directives,
        tuple(words),
        bool(started or launcher_line.hidden_launcher(own, path)),
    )  # fmt: skip


def other_threads(subject: Subject, knobs: Collection[str]) -> str:
    """Return what gives OMP_NUM_THREADS another value than that of the knob threads; "": nothing does."""
    name = "OMP_NUM_THREADS"
    stated = [f"{name}={subject.environment[name]}"] if name in subject.environment else []
    stated += [word for word in subject.command if word.startswith(f"{name}=")]
    stated += [f"{name} {value}" for word, value in pairwise(subject.command) if word == name]
    other = next((one for one in stated if "{threads}" not in one), "")
    return f"the knob sets {name}, and {other} sets it too" if other and "threads" in knobs else ""


def read_knobs(words: Sequence[str], subject: Subject) -> dict[str, str]:
    """Return the knobs of `name=value` words, whose values stay as they are.

    Raises:
        Refusal: one has a mistake, no braces name it, or there are too many combinations.
    """
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        values = value.split(",")
        why = ""
        if not equals or not _KNOB.fullmatch(name) or not value:
            why = f"cannot read {word[:60]!r} (not of the form knob=value); try n=1,2,4, or -- in front of the program"
        elif name in RESERVED:
            why = f"cannot name a knob {name} (workloads have a knob of this name with another meaning); try my_{name}"
        elif name == "threads" and not all(re.fullmatch("[1-9][0-9]{0,6}", one) for one in values):
            why = f"cannot use {word[:60]!r} (threads is a number, which OMP_NUM_THREADS gets too); try threads=1,2,4"
        elif name in found:
            why = f"cannot set {name} twice; give several values as {name}=a,b"
        elif not all(values):
            why = f"cannot use an empty value in {word[:60]!r}; remove the comma, or give the argument a value"
        elif len(set(values)) < len(values):
            why = f"cannot measure {word[:60]} (a value is repeated); try --repeats 12 for more launches"
        if why:
            raise Refusal(why, Exit.WRONG_WORD)
        found[name] = value
    named = placeholders.named(subject)
    if unused := next((name for name in found if name not in named and name != "threads"), ""):
        free = named - {*found, "ranks", "threads"}
        close = near(unused, named) or [*free][: len(free) == 1]
        hint = f"did you mean {{{close[0]}}}?" if close else f"write {{{unused}}} where its value belongs"
        why = f"nothing in the command line or in its options names {{{unused}}}"
        raise Refusal(f"cannot set {unused} ({why}); {hint}", Exit.WRONG_WORD)
    if why := other_threads(subject, found):
        hint = "leave one of them out, write OMP_NUM_THREADS={threads}, or call the knob t"
        raise Refusal(f"cannot set threads ({why}); {hint}", Exit.WRONG_WORD)
    if (cells := cell_count(found)) > MOST_CELLS:
        raise Refusal(f"cannot measure {cells} combinations of values (at most {MOST_CELLS}); use fewer values")
    return found
