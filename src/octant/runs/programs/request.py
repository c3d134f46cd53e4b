"""From the words behind `--` to what is asked of a user's program."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from octant import launchers
from octant.ask import Ask, Presentation, Shape, cell_count, cells_of, comparable
from octant.failure import Exit, Refusal, near
from octant.launchers import Job, JobSize
from octant.machine.discover import discover
from octant.placement.expressions import parse_place
from octant.placement.request import Request
from octant.program import shell_text
from octant.runs.programs import fill
from octant.runs.programs.options import ProgramOptions, option_words
from octant.runs.requests import HERE, Where, check_directives, check_full_nodes, check_options, host_names, requested
from octant.runs.rounds import LAUNCHES
from octant.store import open_store
from octant.store.environment import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.ask import Subject
    from octant.launchers import LaunchCommand
    from octant.machine import Machine

MOST_CELLS = 10_000
"""Combinations of the values of a program's knobs."""
RESERVED = frozenset({"seconds", "samples", "least", "precision", "groups"})
"""Names of knobs that have another meaning for the analysis of workloads: how long to measure, and groups of ranks."""
MOST_OF_NAME = 80
"""Characters of the name of a program."""
_INTERPRETER = re.compile(r"python[\d.]*|perl|ruby|julia|Rscript|node|bash|sh|dash|zsh|ksh")
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
    started = _recognised(subject, asked, ranks)
    if started:
        count = _launcher_ranks(started, ranks, where, request)
        own = list(started.words[started.command.program :])
    else:
        hosts = host_names(where.hosts)
        count = ranks or (request.ranks * max(1, len(hosts)) if request else 1)
        _check_start(count, where, hosts, request, asked)
        own = fill.filled_words(words, {"ranks": str(count), **cells_of(asked)[0]})
    name = program_name(own)
    shape = Shape(count, str(request) if request else "", host_names(where.hosts), where.launcher)
    subject = replace(subject, program=name)
    return Ask(subject, asked, shape, dict(mpi or {}), Presentation(name), repeats or LAUNCHES), machine


def check_program(ask: Ask) -> None:
    """Refuse a program that is not there; a command before the launch, another host or a launcher's node may have it.

    Raises:
        Refusal: there is none.
    """
    subject, known = ask.subject, {"ranks": str(ask.shape.ranks), **cells_of(ask.knobs)[0]}
    if subject.before or ask.shape.hosts or _recognised(subject, ask.knobs, ask.shape.ranks):
        return
    word = fill.filled(subject.command[0], known)
    path = subject.environment.get("PATH")
    if shutil.which(word, path=None if path is None else fill.filled(path, known)):
        return
    if not os.path.dirname(word):  # noqa: PTH120 - text
        why = "no such program on PATH"
        hint = f"did you mean ./{word}?" if os.access(word, os.X_OK) else "check the name, or give its path"
    else:
        why = "it may not be executed" if Path(word).exists() else "no such file"
        hint = "check its path and mode"
    raise Refusal(f"cannot start {word!r} ({why}); {hint}")


def remarks(ask: Ask) -> tuple[str, ...]:
    """Return what the user has to know of a program before it starts."""
    found = []
    for name in filter(is_secret_name, ask.subject.environment):
        instead = f"to keep it out, set it before the command: {name}=… octant run …"
        found.append(f"the value of {name} is stored with the run, because --env sets it; {instead}")
    started = _recognised(ask.subject, ask.knobs, ask.shape.ranks)
    if started and started.command.binds:
        found.append(f"{started.words[0]} binds its ranks itself ({shell_text(started.command.options)})")
    return tuple(found)


def check_mpi(ask: Ask, library: str) -> None:
    """Refuse settings of the MPI library for a program that is not known to use it.

    Args:
        library: the MPI library of Octant's own kernels, whose names and values the settings have.

    Raises:
        Refusal: no launcher of this library starts the program.
    """
    started = _recognised(ask.subject, ask.knobs, ask.shape.ranks)
    if started:
        if started.launcher.startswith(library):
            return
        why = f"{started.words[0]} is the launcher of {started.launcher}, and the settings are those of {library}"
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
    started = _recognised(subject, asked, ranks)
    if where.hosts:
        raise Refusal("cannot use --hosts in a job (the batch system chooses them); leave it out", Exit.WRONG_WORD)
    count = _launcher_ranks(started, ranks, Where(where.place), request) if started else ranks
    placed = request or Request(ranks=count or 1)
    name = program_name(started.words[started.command.program :] if started else words)
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
        bool(started),
    )  # fmt: skip


def program_name(words: Sequence[str]) -> str:
    """Return the name of a program: of its file, or of the script that an interpreter is given."""
    name = os.path.basename(words[0])  # noqa: PTH119 - text
    if _INTERPRETER.fullmatch(name):
        script = "" if "-c" in words[1:2] else next((word for word in words[1:] if not word.startswith("-")), "")
        name = os.path.basename(script) or name  # noqa: PTH119 - text
    return re.sub(r"[\x00-\x1f\x7f]", "?", name)[:MOST_OF_NAME] or "program"


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
        elif len(set(map(comparable, values))) < len(values):
            why = f"cannot measure {word[:60]} (two values are the same amount); try --repeats 12 for more launches"
        if why:
            raise Refusal(why, Exit.WRONG_WORD)
        found[name] = value
    named = fill.named(subject)
    if unused := next((name for name in found if name not in named and name != "threads"), ""):
        free = named - {*found, "ranks", "threads"}
        close = near(unused, named) or [*free][: len(free) == 1]
        hint = f"did you mean {{{close[0]}}}?" if close else f"write {{{unused}}} where its value belongs"
        why = f"nothing in the command line or in its options names {{{unused}}}"
        raise Refusal(f"cannot set {unused} ({why}); {hint}", Exit.WRONG_WORD)
    if (cells := cell_count(found)) > MOST_CELLS:
        raise Refusal(f"cannot measure {cells} combinations of values (at most {MOST_CELLS}); use fewer values")
    return found


@dataclass(frozen=True)
class _Started:
    """The command line of a launcher, with the values of the first cell filled in."""

    launcher: str  # the name of its file
    command: LaunchCommand
    words: tuple[str, ...]
    ranks: frozenset[int | None]  # of all cells


def _recognised(subject: Subject, asked: Mapping[str, str], ranks: int | None) -> _Started | None:
    """The launcher of the command line; `None`: it is none that is known.

    Raises:
        Refusal: its command line cannot be taken apart in some cell.
    """
    found: dict[tuple[str, ...], tuple[str, LaunchCommand] | None] = {}
    for cell in cells_of(asked):
        known = {"ranks": str(ranks or 1), **cell}
        words = tuple(fill.filled_words(subject.command, known))
        variables = {name: fill.filled(value, known) for name, value in subject.environment.items()}
        found[words] = launchers.recognise(words, {**os.environ, **variables})
        if found[words] is None or "{" not in "".join(subject.command[: found[words][1].program]):  # type: ignore[index]
            break
    words, first = next(iter(found.items()))
    if first is None:
        return None
    return _Started(first[0], first[1], words, frozenset(one[1].ranks for one in found.values() if one))


def _launcher_ranks(started: _Started, ranks: int | None, where: Where, request: Request | None) -> int:
    """The ranks that a command line with a launcher of its own starts.

    Raises:
        Refusal: an option that says otherwise, or a placement that does not fit.
    """
    name = started.words[0]
    if where.launcher or where.hosts:
        option = f"--launcher {where.launcher}" if where.launcher else f"--hosts {where.hosts}"
        why = f"the command line starts its ranks with {name}"
        raise Refusal(f"cannot use {option} ({why}); leave it out, or give the program without {name}", Exit.WRONG_WORD)
    stated = started.ranks - {None}
    if ranks is not None and started.ranks != {ranks}:
        said = (
            f"starts {' or '.join(map(str, sorted(map(int, filter(None, stated)))))}" if stated else "states no number"
        )
        why = f"{name} {said}; its own option decides"
        raise Refusal(f"cannot use --ranks {ranks} ({why}); leave --ranks out, or change it there", Exit.WRONG_WORD)
    if request and None in started.ranks:
        why = f"the command line of {name} does not state how many ranks it starts"
        raise Refusal(f"cannot place the ranks of {name} ({why}); add its option, such as -n 2", Exit.WRONG_WORD)
    for count in filter(None, stated):
        if request and count % request.ranks:
            why = f"{name} starts {count} ranks, and --place {request.ranks}x{request.threads} is for {request.ranks}"
            raise Refusal(
                f"cannot place these ranks ({why}); try --place {count}x{request.threads}", Exit.WRONG_WORD
            )  # fmt: skip
    return started.command.ranks or 1


def _check_start(
    count: int, where: Where, hosts: Sequence[str], request: Request | None, asked: Mapping[str, str]
) -> None:
    """Refuse a start of ranks that Octant cannot make.

    Raises:
        Refusal: a batch system as a launcher, a launcher that is not there, or ranks that do not fill nodes.
    """
    if "ranks" in asked:
        why = "Octant starts the ranks of this program"
        raise Refusal(f"cannot use a knob ranks ({why}); try --ranks N, or mpiexec -n {{ranks}}", Exit.WRONG_WORD)
    if where.launcher in launchers.names("job") and where.launcher not in launchers.names("start"):
        why = "it is a batch system, which starts a job script"
        raise Refusal(f"cannot launch with {where.launcher!r} ({why}); try --script FILE or --submit", Exit.WRONG_WORD)
    launchers.chosen(where.launcher, JobSize(count, hosts=tuple(hosts)))
    if request:
        check_full_nodes(count, request)
