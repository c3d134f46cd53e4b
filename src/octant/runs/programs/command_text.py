"""Requests of programs as command lines that users can copy."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from octant.program import STDOUT, shell_text
from octant.runs.programs.launcher_line import program_name
from octant.runs.programs.options import option_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.program import ProgramCheck, ProgramValue
    from octant.request import Request, RequestPairs, Subject
    from octant.store import StoredRun


def resume_line(run: StoredRun) -> str:
    """Return the command line that resumes a run; for a program, with everything that must be repeated."""
    line = ["octant", "resume", run.id]
    if not any(request.subject.command for request in run.requests):
        return shell_text(line)
    if file := _file_of(run):
        return shell_text([*line, "--from", file])
    request = next(request for request in run.requests if request.subject.command)
    knobs = [f"{name}={value}" for name, value in request.knobs.items()]
    return shell_text([*line, *knobs, *subject_words(request.subject, started=True), "--", *request.subject.command])


def run_line(request: Request) -> str:
    """Return the command line that measures the program of a request in a new run, quoted for a shell."""
    knobs = [f"{name}={value}" for name, value in request.knobs.items()]
    words = [*knobs, *shape_words(request), *subject_words(request.subject, started=True)]
    return shell_text(["octant", "run", *words, "--", *request.subject.command])


def _file_of(run: StoredRun) -> str:
    """Return the stored name of the study or suite file of a run; "": there was none."""
    if run.study:
        return f"{run.study.name}.toml"
    words = run.title.split() if run.benchmark == "evaluate" else []
    return next((word for option, word in pairwise(words) if option == "--suite"), "")


def comparison_line(couples: RequestPairs, *options: str, runs: Sequence[str] = ()) -> str:
    """Return the command that measures two programs with interleaved launches, quoted for a shell.

    Args:
        couples: requests of both programs, as from `pair.request_pairs`: all combinations of the values of their knobs.
        options: leading options of `octant compare`.
        runs: the ids of two runs that are continued.
    """
    words = ["octant", "compare", *options, *_knobs([request for request, _ in couples]), *shape_words(couples[0][0])]
    sides = [request.subject for request in couples[0]]
    alike = dict(sides[0].environment.items() & sides[1].environment.items())
    both = {name: text for name, text in sides[0].environment.items() if name in alike}
    words += [*subject_words(replace(sides[0], environment=both)), *runs]
    for subject in sides:
        words += ["--", *_own_variables(subject, both), *subject.command]
    return shlex.join(words)


def _own_variables(subject: Subject, both: Mapping[str, str]) -> list[str]:
    """Return `env NAME=VALUE` for the variables that the other program does not have; empty if there are none."""
    variables = [f"{name}={text}" for name, text in subject.environment.items() if name not in both]
    return ["env", *variables] if variables else []


def _knobs(requests: Sequence[Request]) -> list[str]:
    names = requests[0].knobs
    return [f"{name}={','.join(dict.fromkeys(request.knobs[name] for request in requests))}" for name in names]


def shape_words(request: Request, place: str = "") -> list[str]:
    """Return the options for the number, the placement and the launcher of the ranks.

    Args:
        place: placement of the ranks; "": as in the request.
    """
    shape, place = request.shape, place or request.shape.place
    ranks = [str(shape.ranks)] if shape.ranks > 1 and not place and not has_launcher(request) else []
    return [
        *option_words("--ranks", ranks),
        *option_words("--place", [place] if place else []),
        *option_words("--launcher", [shape.launcher] if shape.launcher else []),
        *option_words("--hosts", [",".join(shape.hosts)] if shape.hosts else []),
    ]


def has_launcher(request: Request) -> bool:
    """Return whether the command line contains a launcher before the program."""
    program = request.subject.program
    return bool(program) and program_name(request.subject.command) != program


def subject_words(subject: Subject, started: bool = False) -> list[str]:
    """Return the options of a program for its values, checks, files and commands.

    Args:
        started: only options that determine what a launch starts (`Subject.started`), and commands of checks.
    """
    commands = [
        *option_words("--env", [f"{name}={text}" for name, text in subject.environment.items()]),
        *option_words("--input", [subject.input] if subject.input else []),
        *option_words("--before", map(shell_text, subject.before)),
        *option_words("--after", map(shell_text, subject.after)),
    ]
    checks = [check_text(check) for check in subject.checks if check.command or not started]
    if started:
        return [*commands, *option_words("--check", checks)]
    statuses = [] if subject.statuses == (0,) else [f"exit={','.join(map(str, subject.statuses))}"]
    return [
        *option_words("--value", map(value_text, subject.values)),
        *option_words("--check", [*checks, *statuses]),
        *commands,
        *["--fresh-dir"] * subject.fresh,
        *option_words("--keep", subject.keep),
    ]


def value_text(value: ProgramValue) -> str:
    """Return the text of `--value` for a value."""
    if value.call:
        return value.name
    if value.region:
        return f"{value.name}=region:{value.region}"
    source = "" if value.source == STDOUT else f",{value.source}"
    wanted = f"json:{value.path}" if value.path else value.pattern
    return f"{value.name}[{value.unit},{value.better}{source}]={wanted}"


def check_text(check: ProgramCheck, other: str = "") -> str:
    """Return the text of `--check` for a check: `residual within 1e-09 of 0.5`.

    Args:
        other: replacement of the baseline, such as `NUMBER` or a file name.
    """
    if check.kind == "command":
        return f"command {shell_text(check.command)}"
    if check.kind == "file":
        reference = check.reference or other
        return f"file {check.file}" + f" = {reference}" * bool(reference)
    expected = other if check.expected is None else _number(check.expected)
    of = f" of {expected}" * bool(expected)
    return f"{check.value} within {_number(check.tolerance)}{of}" + " absolute" * (not check.relative)


def _number(value: float) -> str:
    return repr(value).removesuffix(".0")
