"""Checks of the results of a program; each check is a result with a bound."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO

import numpy as np

from octant.failure import Exit, Refusal
from octant.launch.execute import ProcessOutcome, waited_text
from octant.launch.program import VARIABLE as LAUNCH
from octant.launch.program import ProgramEnd, run_command
from octant.program import STDERR, STDOUT, ProgramCheck
from octant.record import UNCHECKED, RecordError, Result
from octant.request import Subject
from octant.runs.programs import values
from octant.runs.programs.placeholders import fill_text
from octant.runs.programs.reference import Reference, digest_note, digest_of, stored_name
from octant.runs.programs.values import MissingValueError, Sources
from octant.store import kept
from octant.units import differing_texts

COMMAND_S = 600.0
"""Default timeout of a check command, in seconds."""
OUTPUT, ERRORS = "OCTANT_STDOUT", "OCTANT_STDERR"
"""Variables of a check command: the files with the captured output of the launch."""
_CHUNK_BYTES = 1 << 20
_SHOWN_CHARS = 200

RunCommand = Callable[[Sequence[str], Path, Mapping[str, str], float], ProcessOutcome]
"""Runs a command in a folder with additional variables and a timeout."""


class FailedCheckError(Exception):
    """A check without a value to compare, which counts as failed; the message states the reason."""


@dataclass(frozen=True)
class Answer:
    """Results of a launch, as input of its checks."""

    end: ProgramEnd
    sources: Sources
    found: Mapping[str, float]  # every value of the launch, by name
    missing: Mapping[str, str]  # why a value is missing, by name
    environment: Mapping[str, str]  # variables of the launch
    directory: Path  # working directory of the user, to which references are relative
    reference: Reference | None  # of the baseline; `None`: this is its first launch, or no launch of it succeeded
    is_baseline: bool = False
    knobs: Mapping[str, str] = field(default_factory=dict)  # of the launch
    command: RunCommand = run_command
    limit_s: float = COMMAND_S  # of a check command


@dataclass
class CheckResults:
    """Results of the checks of a launch, and the data that later comparisons need."""

    results: list[Result] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)  # to be stored with the launch, by name


def check_references(subject: Subject, cells: Iterable[Mapping[str, str]]) -> None:
    """Check that the reference files of checks exist, before anything is launched.

    If a command runs before each launch, it may create the files, and they are not checked.

    Args:
        subject: the program with its checks.
        cells: the values of the placeholders in each cell.

    Raises:
        Refusal: a file does not exist or cannot be read.
    """
    written = [check.reference for check in subject.checks if check.reference and not subject.before]
    for name in dict.fromkeys(fill_text(text, known) for known in cells for text in written):
        try:
            values.open_plain(Path(subject.directory or ".") / name).close()
        except OSError as error:
            why = error.strerror or str(error)
            hint = "use its absolute path, or a path relative to the working directory of Octant"
            raise Refusal(f"cannot compare with the file {name!r} ({why}); {hint}", Exit.WRONG_WORD) from error


def check_commands(subject: Subject, known: Mapping[str, str]) -> None:
    """Check that the programs of check commands exist, before anything is launched.

    Args:
        subject: the program with its checks.
        known: the values of the placeholders.

    Raises:
        Refusal: a program does not exist.
    """
    for check in subject.checks:
        word = fill_text(check.command[0], known) if check.command else ""
        there = Path(subject.directory or ".") / word if "/" in word else word
        if word and not shutil.which(there):
            why = "it is not an executable file" if "/" in word else "it is not on PATH"
            hint = "use its absolute path, or a path relative to the working directory of the program"
            raise Refusal(f"cannot run the check command {word!r} ({why}); {hint}", Exit.WRONG_WORD)


def judge(checks: Sequence[ProgramCheck], answer: Answer) -> CheckResults:
    """Perform the checks of a launch.

    A check fails with NaN if a value, a file or a command is missing.
    """
    judged = CheckResults()
    for number, check in enumerate(checks):
        kinds = {"value": _value_check, "file": _file_check, "command": _command_check}
        try:
            value, where = kinds[check.kind](check, number, answer, judged)
            where += _baseline_text(answer) * check.needs_baseline
        except FailedCheckError as failed:
            value, where = float("nan"), f"{UNCHECKED}{failed}"
        bound = check.tolerance if check.kind == "value" else 0.0
        judged.results.append(Result(check.name, value, "1", bound, where="" if value <= bound else where))
    return judged


def _baseline_text(answer: Answer) -> str:
    """Return the cell of the baseline if the launch has another one: `; the baseline is n=200 s=static`."""
    knobs = answer.reference.point.knobs if answer.reference else {}
    if not knobs or dict(knobs) == dict(answer.knobs):
        return ""
    return f"; the baseline is {' '.join(f'{name}={value}' for name, value in knobs.items())}"


def difference(check: ProgramCheck, value: float, expected: float) -> float:
    """Return the relative or absolute difference of a value, computed with the decimal numbers that the user sees.

    Raises:
        FailedCheckError: the difference is relative to zero.
    """
    apart = abs(Decimal(repr(value)) - Decimal(repr(expected)))
    if not check.relative:
        return float(apart)
    if expected == 0:
        raise FailedCheckError("a difference relative to 0 is undefined; add the word 'absolute' to the check")
    return float(apart / abs(Decimal(repr(expected))))


def _value_check(check: ProgramCheck, _number: int, answer: Answer, _judged: CheckResults) -> tuple[float, str]:
    value = answer.found.get(check.value)
    if value is None:
        raise FailedCheckError(answer.missing.get(check.value, "the launch has no such value"))
    expected = check.expected if check.expected is not None else _baseline_value(check, answer)
    found = difference(check, value, expected)
    first, second = differing_texts(expected, value)
    is_equal_run = answer.is_baseline and check.needs_baseline
    equal_text = f"two launches with equal inputs gave {first} and {second}"
    return found, equal_text if is_equal_run else f"{second} instead of {first}"


def _baseline_value(check: ProgramCheck, answer: Answer) -> float:
    if answer.reference is None:
        if answer.is_baseline:
            return answer.found[check.value]
        raise FailedCheckError("no launch of the baseline succeeded")
    value = answer.reference.value(check.value)
    if value is None:
        raise FailedCheckError(f"the baseline has no value {check.value}")
    return value


def _file_check(check: ProgramCheck, number: int, answer: Answer, judged: CheckResults) -> tuple[float, str]:
    path = answer.end.folder / check.file
    try:
        with values.open_plain(path) as file:
            values.check_fresh(check.file, os.fstat(file.fileno()).st_mtime, answer.sources)
        if check.reference:
            return _compared_with_file(path, answer.directory / check.reference, check)
        if answer.reference is None and answer.is_baseline:
            _store_baseline(number, path, judged)
            return 0.0, ""
        return _compared_with_baseline(path, number, answer)
    except OSError as error:
        raise FailedCheckError(values.missing_text(check.file, error)) from error
    except MissingValueError as missing:
        raise FailedCheckError(str(missing)) from missing
    except RecordError as damaged:
        raise FailedCheckError(f"the stored file of the baseline cannot be read: {damaged}") from damaged


def _store_baseline(number: int, path: Path, judged: CheckResults) -> None:
    """Store the file for later comparisons, or only its digest if it is too large."""
    with values.open_plain(path) as file:
        content = file.read(kept.MAX_FILE_BYTES + 1)
    if len(content) <= kept.MAX_FILE_BYTES:
        ending = "".join(one for one in path.suffix if one.isascii() and (one.isalnum() or one == "."))[:16]
        judged.files[f"{stored_name(number)}{ending}"] = content
    judged.notes[digest_note(number)] = digest_of(path)


def _compared_with_baseline(path: Path, number: int, answer: Answer) -> tuple[float, str]:
    if answer.reference is None:
        raise FailedCheckError("no launch of the baseline succeeded")
    digest = answer.reference.digest(number)
    if not digest:
        raise FailedCheckError("the baseline has no file for this check")
    if digest_of(path) == digest:
        return 0.0, ""
    content = answer.reference.file(number)
    if content is None:
        return float("nan"), "its SHA-256 differs from that of the baseline, whose file was too large to be stored"
    with values.open_plain(path) as file:
        return _differing(file, io.BytesIO(content))


def _compared_with_file(path: Path, reference: Path, check: ProgramCheck) -> tuple[float, str]:
    """Return the number of bytes that differ from a reference file, which is read in parts."""
    try:
        expected = values.open_plain(reference)
    except OSError as error:
        raise FailedCheckError(f"the reference file {check.reference} cannot be read ({error.strerror})") from error
    with expected, values.open_plain(path) as file:
        return _differing(file, expected)


def _differing(file: BinaryIO, expected: BinaryIO) -> tuple[float, str]:
    """Return the number of different bytes of two files, and the position of the first one."""
    differing, first, at = 0, -1, 0
    while any(parts := (file.read(_CHUNK_BYTES), expected.read(_CHUNK_BYTES))):
        count, begin = _count_differing(*parts)
        first = at + begin if first < 0 <= begin else first
        differing, at = differing + count, at + _CHUNK_BYTES
    return float(differing), f"the first difference is at byte offset {first}"


def _count_differing(content: bytes, expected: bytes) -> tuple[int, int]:
    """Return the number of different bytes, including those of the longer file alone, and the first; -1: none."""
    common = min(len(content), len(expected))
    apart = np.frombuffer(content, np.uint8, common) != np.frombuffer(expected, np.uint8, common)
    beyond = max(len(content), len(expected)) - common
    first = int(apart.argmax()) if apart.any() else common if beyond else -1
    return int(np.count_nonzero(apart)) + beyond, first


def _command_check(check: ProgramCheck, number: int, answer: Answer, judged: CheckResults) -> tuple[float, str]:
    outputs = answer.end.outputs
    named = {OUTPUT: outputs.get(STDOUT), ERRORS: outputs.get(STDERR)}
    launch = next((path.parent for path in outputs.values()), answer.end.folder)
    environment = {**answer.environment, LAUNCH: str(launch)}
    environment |= {name: str(path) for name, path in named.items() if path}
    outcome = answer.command(check.command, answer.end.folder, environment, answer.limit_s)
    if outcome.errors:
        judged.files[f"check-{number}.txt"] = outcome.errors.encode()
    lines = [line.strip() for line in outcome.errors.splitlines() if line.strip()]
    message = lines[-1][:_SHOWN_CHARS] if lines else ""
    if outcome.timed_out:
        raise FailedCheckError(f"timed out after {waited_text(answer.limit_s)}; --timeout sets the limit")
    if outcome.code < 0:
        raise FailedCheckError(f"the command was killed by signal {-outcome.code}")
    if outcome.code in (126, 127):
        reason = message.removeprefix("octant-bind: ") or "no such program"
        raise FailedCheckError(f"the command cannot be started ({reason})")
    return float(outcome.code), message
