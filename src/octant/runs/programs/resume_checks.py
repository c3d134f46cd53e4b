"""Checks before a run of a program is resumed: the user must repeat everything that determines what is started.

docs/adr/0019 states the rule and its reasons.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from octant.failure import Exit, Refusal
from octant.program import shell_text
from octant.runs.programs import grammar, program_request
from octant.runs.programs.command_text import resume_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from octant.request import Request, Subject
    from octant.runs.programs.options import ProgramOptions
    from octant.store import StoredRun


def check_repeated_file(run: StoredRun, stated: Sequence[Request], file: str) -> None:
    """Check that the file of requests contains every program of a stored run, unchanged.

    Args:
        stated: requests of the file for the machine of the run.
        file: name of the file.

    Raises:
        Refusal: the file does not contain a program of the run with the same knobs, ranks and options.
    """
    known = [(one.subject, one.knobs, one.shape, one.mpi) for one in stated]
    for request in _every_request(run):
        if request.subject.command and (request.subject, request.knobs, request.shape, request.mpi) not in known:
            what = shell_text(
                [*(f"{name}={value}" for name, value in request.knobs.items()), "--", *request.subject.command]
            )
            why = f"{file} does not request {what!r} on this machine"
            hint = "use the file with which the run was started, in the same folder, or start a new run"
            raise Refusal(f"cannot resume {run.id} ({why}); {hint}", Exit.WRONG_WORD)


def check_repeated_command(
    run: StoredRun,
    command: Sequence[str],
    knobs: Sequence[str],
    options: ProgramOptions,
    allowed: Collection[str] = (),
) -> None:
    """Compare the program of a command line with the program of a stored run, part by part.

    Parts that determine what is started must be repeated and equal. Parts that are only read from a launch may come
    from the store, if their files are in the working directory of the program.

    Args:
        command: the command line.
        knobs: arguments of the form name=value.
        allowed: files outside that directory that the user permits.

    Raises:
        Refusal: the first difference, or a file that is not permitted.
    """
    subject = options.subject(command, directory=os.getcwd())  # noqa: PTH109 - text
    repeated = program_request.read_knobs(knobs, subject)
    for request in _every_request(run):
        if not request.subject.command:
            why = "it is a run of workloads"
            hint = "omit -- and the command line"
            raise Refusal(f"cannot resume {run.id} with a program ({why}); {hint}", Exit.WRONG_WORD)
        if difference := next(_differences(request, subject, repeated), ""):
            raise Refusal(f"cannot resume {run.id} ({difference}); {_hint(run)}", Exit.WRONG_WORD)
        _check_files(run, request.subject, subject, allowed)


def check_no_program(run: StoredRun) -> None:
    """Raise `Refusal` if a run contains a program, whose command line the user must repeat."""
    for request in _every_request(run):
        if command := request.subject.command:
            why = "command lines in a store are never executed"
            text = f"cannot resume {shell_text(command)!r} ({why}); {_hint(run)}"
            raise Refusal(text, Exit.NOT_SUPPORTED)


def _every_request(run: StoredRun) -> list[Request]:
    """Return the requests of the run and of every line of its plan.

    Requests are not deduplicated by key: keys are short, so that a collision can be constructed.
    """
    requests = (
        *run.requests,
        *(launch.request for launch in run.launches),
        *(one.launch.request for one in run.plans.values()),
    )
    return list({id(request): request for request in requests}.values())


def _hint(run: StoredRun) -> str:
    return f"if you trust it, run {resume_line(run)}"


def _differences(request: Request, repeated: Subject, knobs: Mapping[str, str]) -> Iterator[str]:
    """Yield the differences between a command line and the stored request."""
    stored = request.subject
    yield from _word_differences("the command line", stored.command, repeated.command)
    # A placement sets the number of threads, which is filled in as a number.
    expected = {name: value for name, value in request.knobs.items() if name in knobs or not _is_threads(name, value)}
    yield from _member_differences("knob", expected, knobs)
    yield from _member_differences("variable", stored.environment, repeated.environment)
    yield from _text_differences("the input", stored.input, repeated.input)
    if stored.directory:
        yield from _text_differences("the working directory", stored.directory, repeated.directory)
    for option, old, new in (("--before", stored.before, repeated.before), ("--after", stored.after, repeated.after)):
        yield from _list_differences(option, [shlex.join(one) for one in old], [shlex.join(one) for one in new])
    old_checks, new_checks = (
        [shlex.join(check.command) for check in one.checks if check.command] for one in (stored, repeated)
    )  # fmt: skip
    yield from _list_differences("--check command", old_checks, new_checks)
    parts = zip(("--value", "--keep", "--check"), _read_parts(stored), _read_parts(repeated), strict=True)
    for option, part, again in parts:
        if again and part != again:
            yield f"{option} differs from that of the run"
    if repeated.fresh and not stored.fresh:
        yield "the run does not use --fresh-dir"


def _read_parts(subject: Subject) -> tuple[tuple[object, ...], tuple[object, ...], tuple[object, ...]]:
    """Return the parts that are only read from a launch: values, kept files, and checks."""
    statuses = () if subject.statuses == (0,) else subject.statuses
    return subject.values, subject.keep, (*(check for check in subject.checks if not check.command), *statuses)


def _is_threads(name: str, value: str) -> bool:
    return name == "threads" and value.isascii() and value.isdecimal()


def _word_differences(what: str, stored: Sequence[str], repeated: Sequence[str]) -> Iterator[str]:
    for number, (old, new) in enumerate(zip(stored, repeated, strict=False), 1):
        if old != new:
            yield f"argument {number} of {what} is {_quoted(new)}, but {_quoted(old)} in the run"
    if len(stored) != len(repeated):
        yield f"{what} has {len(repeated)} arguments, but {len(stored)} in the run"


def _member_differences(what: str, stored: Mapping[str, str], repeated: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys((*stored, *repeated)):
        old, new = stored.get(name), repeated.get(name)
        if new is None:
            yield f"the {what} {name} is missing; it is {_quoted(old or '')} in the run"
        elif old is None:
            yield f"the run has no {what} {name}"
        elif old != new:
            yield f"the {what} {name} is {_quoted(new)}, but {_quoted(old)} in the run"


def _text_differences(what: str, stored: str, repeated: str) -> Iterator[str]:
    if stored != repeated:
        yield f"{what} is {_quoted(repeated) if repeated else 'missing'}, but {_quoted(stored)} in the run"


def _list_differences(what: str, stored: Sequence[str], repeated: Sequence[str]) -> Iterator[str]:
    for number in range(max(len(stored), len(repeated))):
        old, new = (_quoted(one[number]) if number < len(one) else "missing" for one in (stored, repeated))
        if old != new:
            yield f"{what} is {new}, but {old} in the run"


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 100 else f"{text[:100]}…")


def _check_files(run: StoredRun, stored: Subject, repeated: Subject, allowed: Collection[str]) -> None:
    """Check the files that a stored run reads or keeps and that the command line does not repeat.

    Raises:
        Refusal: a file is outside the working directory of the program and is not permitted.
    """
    values, keep, checks = _read_parts(repeated)
    names = [] if values else [value.source for value in stored.values]
    names += [] if keep else stored.keep
    names += [] if checks else [name for check in stored.checks for name in (check.file, check.reference)]
    for name in filter(None, names):
        if name not in allowed and not grammar.is_inside(name):
            why = "it is outside the working directory of the program, and it is named only in the store"
            text = f"cannot resume {run.id} with the file {_quoted(name)} ({why})"
            raise Refusal(f"{text}; if you trust it, add --allow {shlex.quote(name)}", Exit.NOT_SUPPORTED)
