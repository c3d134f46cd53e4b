"""A stored run of a program that goes on: the program and all that decides what is started are given again.

docs/adr/0019 has the rule and its reasons.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from octant.failure import Exit, Refusal
from octant.program import shell_text
from octant.runs.programs import grammar, request
from octant.runs.programs.command_text import resume_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from octant.ask import Ask, Subject
    from octant.runs.programs.options import ProgramOptions
    from octant.store import StoredRun


def check_stated(run: StoredRun, stated: Sequence[Ask], file: str) -> None:
    """Compare the programs of a stored run with those of the file that is given again: each has to be in it, as it is.

    Args:
        stated: what the file asks of the machine of the run.
        file: its name.

    Raises:
        Refusal: a program of the run is not in the file, or not with these knobs, ranks and options.
    """
    known = [(one.subject, one.knobs, one.shape, one.mpi) for one in stated]
    for ask in _every_ask(run):
        if ask.subject.command and (ask.subject, ask.knobs, ask.shape, ask.mpi) not in known:
            what = shell_text([*(f"{name}={value}" for name, value in ask.knobs.items()), "--", *ask.subject.command])
            why = f"{file} does not ask for {what!r} here"
            hint = "give the file with which the run began, in the same folder, or begin again"
            raise Refusal(f"cannot resume {run.id} ({why}); {hint}", Exit.WRONG_WORD)


def check_given(
    run: StoredRun,
    command: Sequence[str],
    knobs: Sequence[str],
    options: ProgramOptions,
    allowed: Collection[str] = (),
) -> None:
    """Compare a program that is given again with the one of a stored run, part by part.

    What decides what is started has to be given and equal. What is only read from a launch may come from the store, if
    its files are in the folder in which the program works.

    Args:
        command: the words of the command line.
        knobs: words of the form name=value.
        allowed: files outside that folder that the user has said may be read.

    Raises:
        Refusal: the first difference, or a file that is not allowed.
    """
    subject = options.subject(command, directory=os.getcwd())  # noqa: PTH109 - text
    given = request.read_knobs(knobs, subject)
    for ask in _every_ask(run):
        if not ask.subject.command:
            why = "it is a run of workloads"
            raise Refusal(f"cannot resume {run.id} with a program ({why}); leave out what follows --", Exit.WRONG_WORD)
        if difference := next(_differences(ask, subject, given), ""):
            raise Refusal(f"cannot resume {run.id} ({difference}); {_hint(run)}", Exit.WRONG_WORD)
        _check_files(run, ask.subject, subject, allowed)


def check_unnamed(run: StoredRun) -> None:
    """Refuse a run of a program whose command line is not given again.

    Raises:
        Refusal: it is one.
    """
    for ask in _every_ask(run):
        if command := ask.subject.command:
            why = "what a store says is never started"
            text = f"cannot go on with the command line {shell_text(command)!r} ({why}); {_hint(run)}"
            raise Refusal(text, Exit.NOT_SUPPORTED)


def _every_ask(run: StoredRun) -> list[Ask]:
    """What was asked, and what each line of the plan says of it, whether its launch is left or not.

    None is left out for its key, which is short enough for somebody to find two asks with the same one.
    """
    asks = (*run.asks, *(launch.ask for launch in run.launches), *(one.launch.ask for one in run.plans.values()))
    return list({id(ask): ask for ask in asks}.values())


def _hint(run: StoredRun) -> str:
    return f"if you know what it starts, try {resume_line(run)}"


def _differences(ask: Ask, given: Subject, knobs: Mapping[str, str]) -> Iterator[str]:
    """The parts of what is given that are not those of the stored run, each as a reason."""
    stored = ask.subject
    yield from _word_differences("the command line", stored.command, given.command)
    # A placement sets the number of threads, which is filled in as a number.
    expected = {name: value for name, value in ask.knobs.items() if name in knobs or not _is_threads(name, value)}
    yield from _member_differences("knob", expected, knobs)
    yield from _member_differences("variable", stored.environment, given.environment)
    yield from _text_differences("the input", stored.input, given.input)
    if stored.directory:
        yield from _text_differences("the working directory", stored.directory, given.directory)
    for option, old, new in (("--before", stored.before, given.before), ("--after", stored.after, given.after)):
        yield from _list_differences(option, [shlex.join(one) for one in old], [shlex.join(one) for one in new])
    old_checks, new_checks = (
        [shlex.join(check.command) for check in one.checks if check.command] for one in (stored, given)
    )  # fmt: skip
    yield from _list_differences("--check command", old_checks, new_checks)
    parts = zip(("--value", "--keep", "--check"), _read_parts(stored), _read_parts(given), strict=True)
    for option, part, again in parts:
        if again and part != again:
            yield f"{option} is not as in the run"
    if given.fresh and not stored.fresh:
        yield "--fresh-dir is given, and is not in the run"


def _read_parts(subject: Subject) -> tuple[tuple[object, ...], tuple[object, ...], tuple[object, ...]]:
    """What decides only what is read from a launch: values, files that are kept, and checks."""
    statuses = () if subject.statuses == (0,) else subject.statuses
    return subject.values, subject.keep, (*(check for check in subject.checks if not check.command), *statuses)


def _is_threads(name: str, value: str) -> bool:
    return name == "threads" and value.isascii() and value.isdecimal()


def _word_differences(what: str, stored: Sequence[str], given: Sequence[str]) -> Iterator[str]:
    for number, (old, new) in enumerate(zip(stored, given, strict=False), 1):
        if old != new:
            yield f"word {number} of {what} is {_quoted(new)}, and in the run {_quoted(old)}"
    if len(stored) != len(given):
        yield f"{what} has {len(given)} words, and in the run {len(stored)}"


def _member_differences(what: str, stored: Mapping[str, str], given: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys((*stored, *given)):
        old, new = stored.get(name), given.get(name)
        if new is None:
            yield f"the {what} {name} is {_quoted(old or '')} in the run, and is not given"
        elif old is None:
            yield f"the {what} {name} is given, and is not in the run"
        elif old != new:
            yield f"the {what} {name} is {_quoted(new)}, and in the run {_quoted(old)}"


def _text_differences(what: str, stored: str, given: str) -> Iterator[str]:
    if stored != given:
        yield f"{what} is {_quoted(given) if given else 'not given'}, and in the run {_quoted(stored) or 'empty'}"


def _list_differences(what: str, stored: Sequence[str], given: Sequence[str]) -> Iterator[str]:
    for number in range(max(len(stored), len(given))):
        old, new = (_quoted(one[number]) if number < len(one) else "not given" for one in (stored, given))
        if old != new:
            yield f"{what} is {new}, and in the run {old}"


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 100 else f"{text[:100]}…")


def _check_files(run: StoredRun, stored: Subject, given: Subject, allowed: Collection[str]) -> None:
    """Look at the files that a stored run would have read or kept, of parts that are not given again.

    Raises:
        Refusal: one is outside of the folder in which the program works, and is not allowed.
    """
    values, keep, checks = _read_parts(given)
    names = [] if values else [value.source for value in stored.values]
    names += [] if keep else stored.keep
    names += [] if checks else [name for check in stored.checks for name in (check.file, check.reference)]
    for name in filter(None, names):
        if name not in allowed and not grammar.is_inside(name):
            why = "it is outside of the folder in which the program works, and only a store names it"
            text = f"cannot resume {run.id} with the file {_quoted(name)} ({why})"
            raise Refusal(f"{text}; if you know it, try --allow {shlex.quote(name)}", Exit.NOT_SUPPORTED)
