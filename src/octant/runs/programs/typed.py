"""What was asked of programs as the words of a command line, for lines that people copy."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from octant.program import STDOUT, shell_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from octant.ask import Ask, Subject
    from octant.program import ProgramCheck, ProgramValue
    from octant.runs.interleaved import Couples


def comparison_line(couples: Couples, *options: str, runs: Sequence[str] = ()) -> str:
    """The command that measures two programs in turn, quoted for a shell.

    Args:
        couples: what both are asked, as `pair.couples_of` makes it: all combinations of the values of their knobs.
        options: of `octant compare`, in front.
        runs: the ids of two runs whose rounds go on.
    """
    words = ["octant", "compare", *options, *_knobs([ask for ask, _ in couples]), *_shape(couples[0][0])]
    sides = [ask.subject for ask in couples[0]]
    alike = dict(sides[0].environment.items() & sides[1].environment.items())
    both = {name: text for name, text in sides[0].environment.items() if name in alike}
    words += [*subject_words(replace(sides[0], environment=both)), *runs]
    for subject in sides:
        words += ["--", *_own_variables(subject, both), *subject.command]
    return shlex.join(words)


def _own_variables(subject: Subject, both: Mapping[str, str]) -> list[str]:
    """`env NAME=VALUE`, which sets the variables that the other program does not have; empty if there are none."""
    own = [f"{name}={text}" for name, text in subject.environment.items() if name not in both]
    return ["env", *own] if own else []


def _knobs(asks: Sequence[Ask]) -> list[str]:
    names = asks[0].knobs
    return [f"{name}={','.join(dict.fromkeys(ask.knobs[name] for ask in asks))}" for name in names]


def _shape(ask: Ask) -> list[str]:
    """The options of `--ranks`, `--place`, `--launcher` and `--hosts`."""
    shape = ask.shape
    found = {"--place": shape.place, "--launcher": shape.launcher, "--hosts": ",".join(shape.hosts)}
    if shape.ranks > 1 and not shape.place:
        found["--ranks"] = str(shape.ranks)
    return [word for name, value in found.items() if value for word in (name, value)]


def subject_words(subject: Subject) -> list[str]:
    """The options of a program that make its values, checks, files and commands what they are."""
    found = list(_options(subject))
    return [word for name, text in found for word in ([name] if text is None else _joined(name, text))]


def _joined(name: str, text: str) -> list[str]:
    """An option and its value; joined where the value would be taken for an option."""
    return [f"{name}={text}"] if text.startswith("-") else [name, text]


def _options(subject: Subject) -> Iterator[tuple[str, str | None]]:
    for value in subject.values:
        yield "--value", value_text(value)
    for check in subject.checks:
        yield "--check", check_text(check)
    if subject.statuses != (0,):
        yield "--check", f"exit={','.join(map(str, subject.statuses))}"
    for name, text in subject.environment.items():
        yield "--env", f"{name}={text}"
    if subject.input:
        yield "--input", subject.input
    if subject.fresh:
        yield "--fresh-dir", None
    for name, texts in (
        ("--keep", subject.keep),
        ("--before", _lines(subject.before)),
        ("--after", _lines(subject.after)),
    ):
        for text in texts:
            yield name, text


def _lines(commands: Sequence[Sequence[str]]) -> list[str]:
    return [shell_text(words) for words in commands]


def value_text(value: ProgramValue) -> str:
    """The text of `--value` that describes a value."""
    source = "" if value.source == STDOUT else f",{value.source}"
    wanted = f"json:{value.path}" if value.path else value.pattern
    return f"{value.name}[{value.unit},{value.better}{source}]={wanted}"


def check_text(check: ProgramCheck, other: str = "") -> str:
    """The text of `--check` that describes a check: `residual within 1e-09 of 0.5`.

    Args:
        other: what stands in place of the baseline, such as `NUMBER` or the name of a file.
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
