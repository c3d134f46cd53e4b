"""Requests of a user's program, read from a command line."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from octant.failure import Exit, Refusal, near
from octant.launchers import Job
from octant.machine.discover import discover
from octant.placement.expressions import parse_place
from octant.placement.request import PlacementRequest
from octant.program import shell_text
from octant.request import Presentation, Request, Shape, cell_count, cells_of
from octant.runs.command_line import (
    LOCAL_TARGET,
    LaunchTarget,
    check_directives,
    check_full_nodes,
    check_options,
    host_names,
    resolve_placement,
)
from octant.runs.programs import launcher_line, placeholders
from octant.runs.programs.options import ProgramOptions, option_words
from octant.runs.rounds import LAUNCHES
from octant.store import open_store
from octant.store.environment import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from octant.machine import Machine
    from octant.program import ProgramProfile
    from octant.request import Subject

MAX_CELLS = 10_000
"""Maximum number of combinations of the values of a program's knobs."""
RESERVED = frozenset({"seconds", "samples", "least", "precision", "groups"})
"""Names with another meaning in the analysis of workloads (measuring effort, and groups of ranks)."""
_KNOB = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def request_program(
    words: Sequence[str],
    knobs: Sequence[str],
    ranks: int | None,
    repeats: int | None,
    where: LaunchTarget = LOCAL_TARGET,
    mpi: Mapping[str, str] | None = None,
    options: ProgramOptions | None = None,
    profile: ProgramProfile | None = None,
) -> tuple[Request, Machine]:
    """Return the request of `octant run … -- COMMAND` and this machine.

    Args:
        words: the command line of the program.
        knobs: `name=value` or `name=a,b`; the value replaces `{name}`.
        ranks: number of ranks; `None`: one, or as many as the launcher in the command line starts.
        repeats: launches of each cell; `None`: determined by the first launch.
        mpi: settings of the MPI library, under the names of the library.
        profile: recording of the MPI calls of the program.

    Raises:
        Refusal: there is no program, an option or a knob is invalid, the command line of a launcher cannot be parsed,
            or the placement does not fit this machine or this command line.
    """
    subject = (options or ProgramOptions()).subject(words, directory=os.getcwd(), profile=profile)  # noqa: PTH109
    check_options(ranks, "", repeats)
    machine, parsed_knobs = discover(), read_knobs(knobs, subject)
    request = resolve_placement(where.place, machine).request if where.place else None
    if request and "threads" not in parsed_knobs and "OMP_NUM_THREADS" not in subject.environment:
        parsed_knobs["threads"] = str(request.threads)
    started = launcher_line.find_launcher(subject, parsed_knobs, ranks)
    if started:
        count, program_words = launcher_line.launcher_ranks(started, ranks, where, request), started.program
        launcher_line.check_named_ranks(subject, started, parsed_knobs)
    else:
        count = launcher_line.count_started_ranks(ranks, where, request, parsed_knobs)
        program_words = tuple(placeholders.fill_words(words, {"ranks": str(count), **cells_of(parsed_knobs)[0]}))
    launcher_line.check_hidden_launcher(
        program_words, subject.environment.get("PATH"), where, None if started else ranks
    )
    name = launcher_line.program_name(program_words)
    shape = Shape(count, str(request) if request else "", host_names(where.hosts), where.launcher)
    subject = replace(subject, program=name)
    return Request(subject, parsed_knobs, shape, dict(mpi or {}), Presentation(name), repeats or LAUNCHES), machine


def remarks(request: Request) -> tuple[str, ...]:
    """Return remarks about a program, for the user, before it starts."""
    found = []
    for name in filter(is_secret_name, request.subject.environment):
        instead = f"to avoid this, set it before the command: {name}=… octant run …"
        found.append(f"--env stores the value of {name} with the run; {instead}")
    return (*found, *launcher_line.remarks(request))


def check_mpi(request: Request, library: str) -> None:
    """Check that the program uses the MPI library to which the settings belong.

    Args:
        library: the MPI library of Octant's kernels.

    Raises:
        Refusal: the program is not known to use this library.
    """
    started = launcher_line.find_launcher(request.subject, request.knobs, request.shape.ranks)
    if started:
        if started.launcher.startswith(library):
            return
        why = f"the settings are those of {library}, but {started.name} belongs to {started.launcher}"
    elif request.shape.ranks > 1 and request.shape.launcher in ("", "mpiexec"):
        return
    else:
        why = "this program is not known to use MPI"
    raise Refusal(f"cannot use --mpi ({why}); use --env with a variable of its MPI library", Exit.WRONG_WORD)


def title(words: Sequence[str], knobs: Sequence[str], options: Sequence[str]) -> str:
    """Return the title of a run: the arguments of `octant run`, without a leading `--`."""
    return shell_text([*knobs, *options, *(["--"] if knobs or options else []), *words])


def job(
    words: Sequence[str],
    knobs: Sequence[str],
    ranks: int | None,
    options: ProgramOptions,
    where: LaunchTarget,
    store: Path | None,
    minutes: int,
    directives: tuple[str, ...],
    further: Sequence[str] = (),
) -> Job:
    """Return `octant run … -- COMMAND` as a batch job.

    The placement is parsed here and mapped to CPUs on the node where the job runs.

    Args:
        further: other options of the command.

    Raises:
        Refusal: as `program`; the launcher of a placement or of several ranks is not tested here.
    """
    check_directives(directives)
    subject = options.subject(words)
    parsed_knobs = read_knobs(knobs, subject)
    try:
        request = parse_place(where.place, discover().topology) if where.place else None
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    started = launcher_line.find_launcher(subject, parsed_knobs, ranks)
    if where.hosts:
        raise Refusal("cannot use --hosts in a job (the batch system selects the hosts); omit it", Exit.WRONG_WORD)
    count = launcher_line.launcher_ranks(started, ranks, LaunchTarget(where.place), request) if started else ranks
    if started:  # the job is large enough for the largest cell
        count = max(filter(None, started.ranks), default=count)
    placed = request or PlacementRequest(ranks=count or 1)
    program_words, path = started.program if started else words, subject.environment.get("PATH")
    launcher_line.check_hidden_launcher(program_words, path, LaunchTarget(where.place), None if started else ranks)
    name = launcher_line.program_name(program_words)
    total = count or placed.ranks
    check_full_nodes(total, placed)
    threads = max((int(word) for word in parsed_knobs.get("threads", "1").split(",") if word.isdecimal()), default=1)
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
        bool(started or launcher_line.hidden_launcher(program_words, path)),
    )  # fmt: skip


def other_threads(subject: Subject, knobs: Collection[str]) -> str:
    """Return which setting of OMP_NUM_THREADS contradicts the knob `threads`; "": none."""
    name = "OMP_NUM_THREADS"
    stated = [f"{name}={subject.environment[name]}"] if name in subject.environment else []
    stated += [word for word in subject.command if word.startswith(f"{name}=")]
    stated += [f"{name} {value}" for word, value in pairwise(subject.command) if word == name]
    other = next((one for one in stated if "{threads}" not in one), "")
    return f"the knob threads sets {name}, and {other} also sets it" if other and "threads" in knobs else ""


def read_knobs(words: Sequence[str], subject: Subject) -> dict[str, str]:
    """Return the knobs of `name=value` arguments, with unmodified values.

    Raises:
        Refusal: a knob is invalid or does not occur in braces, or there are too many combinations.
    """
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        values = value.split(",")
        why = ""
        if not equals or not _KNOB.fullmatch(name) or not value:
            why = f"{word[:60]!r} is not of the form knob=value; try n=1,2,4, or write -- before the program"
        elif name in RESERVED:
            why = f"the knob name {name} is reserved (workloads use it with another meaning); try my_{name}"
        elif name == "threads" and not all(re.fullmatch("[1-9][0-9]{0,6}", one) for one in values):
            why = f"{word[:60]!r} is not a number of threads (it also sets OMP_NUM_THREADS); try threads=1,2,4"
        elif name in found:
            why = f"cannot set {name} twice; give several values as {name}=a,b"
        elif not all(values):
            why = f"{word[:60]!r} contains an empty value; remove the comma, or add a value"
        elif len(set(values)) < len(values):
            why = f"{word[:60]!r} contains a value twice; remove it, or use --repeats 12 for more launches"
        if why:
            raise Refusal(why, Exit.WRONG_WORD)
        found[name] = value
    named = placeholders.placeholder_names(subject)
    if unused := next((name for name in found if name not in named and name != "threads"), ""):
        free = named - {*found, "ranks", "threads"}
        close = near(unused, named) or [*free][: len(free) == 1]
        hint = f"did you mean {{{close[0]}}}?" if close else f"write {{{unused}}} where its value belongs"
        why = f"neither the command line nor an option contains {{{unused}}}"
        raise Refusal(f"cannot set {unused} ({why}); {hint}", Exit.WRONG_WORD)
    if why := other_threads(subject, found):
        hint = "remove one of them, write OMP_NUM_THREADS={threads}, or rename the knob to t"
        raise Refusal(f"conflicting numbers of threads ({why}); {hint}", Exit.WRONG_WORD)
    if (cells := cell_count(found)) > MAX_CELLS:
        raise Refusal(f"{cells} combinations of values are too many (maximum: {MAX_CELLS}); use fewer values")
    return found
