"""Numbers in the output of a program, selected by a regular expression or by a path in JSON."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import regex

from octant.profile import named_values
from octant.program import STDERR, STDOUT, ProgramValue
from octant.units import counted

if TYPE_CHECKING:
    from octant.profile.job import JobProfile

MAX_BYTES = 16 << 20
"""Number of bytes that are read of a source: half from its beginning and half from its end."""
SEARCH_S = 5.0
"""Time limit of a search with a regular expression, in seconds."""
STALE_S = 2.0
"""A file that is older than its launch by more than this was not written by it. Some file systems store whole seconds
or times of a server."""
_COMPARED_LINES, _COMPARED_CHARS, _SHOWN_CHARS, _SHOWN_NAMES = 5000, 200, 120, 8
_LAST_LINES = 100  # lines that are searched for a JSON document if the whole text is none
_ABSENT = object()
_MANTISSA = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_NUMBER = re.compile(rf"({_MANTISSA})(?:[eEdDqQ]([+-]?[0-9]+)|([+-][0-9]+))?")
"""Numbers as printed by C, Python and Fortran. Fortran omits the letter before an exponent of three digits."""
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[+-]?[0-9]+,[0-9]+")
_NOT_FINITE = re.compile(r"[+-]?(?:nan(?:\([^)]*\))?|inf(?:inity)?)", re.IGNORECASE)
_SYNTAX = re.compile(r"\\[a-zA-Z]|\[\^?\]?[^\]]*\]|\(\?[a-zA-Z:=!<>]*|[][\\^$.|?*+(){}]")
"""Parts of a regular expression that are not literal text."""


class MissingValueError(Exception):
    """A value is missing; the message states the reason and the next step."""


@dataclass(frozen=True)
class Sources:
    """The texts of one launch that may contain values."""

    outputs: Mapping[str, Path]  # files that hold the captured "stdout" and "stderr"
    folder: Path  # working directory of the program
    begun_s: float = 0.0  # start of the launch, seconds since the epoch
    cut: Sequence[str] = ()  # truncated outputs, one sentence each
    regions: Mapping[str, float] | None = None  # seconds in each region of the profile; `None`: there is no profile
    profile: JobProfile | None = None  # of the MPI calls

    def path(self, source: str) -> Path:
        """Return the file of a source: "stdout", "stderr", or a file relative to the folder."""
        return self.outputs.get(source, self.folder / os.devnull) if _is_output(source) else self.folder / source


def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """Return the compiled regular expression, in which `^` and `$` match at each line.

    Raises:
        ValueError: the text is not a regular expression; the message states why.
    """
    try:
        return regex.compile(pattern, regex.MULTILINE)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def read_value(value: ProgramValue, sources: Sources, implied: bool = False) -> float:
    """Return the number of a value in a launch, from its last match.

    Args:
        value: description of the value.
        sources: outputs and files of the launch.
        implied: the value is not described by `--value`, so that messages do not show its expression.

    Raises:
        MissingValueError: there is no match, the match is not a finite number, or the search takes too long.
    """
    if value.region:
        return _region_time(value.region, sources.regions)
    if value.call:
        return _call_value(value.call, sources.profile)
    text, left_out = read_source(value.source, sources)
    if value.path:
        if left_out:
            raise MissingValueError(f"{value.source} is larger than {MAX_BYTES >> 20} MiB; try a regular expression")
        found = _found_in_json(value.path, value.source, text)
    else:
        found = _last_match(value, text, sources, implied)
    try:
        return parse_number(found)
    except ValueError as error:
        raise MissingValueError(f"{_quoted(found)} in {value.source} {error}") from error


def _call_value(name: str, profile: JobProfile | None) -> float:
    if profile is None:
        raise MissingValueError("the launch has no profile; use a program that calls MPI, and profile it")
    try:
        return named_values.value_of(profile, f"call:{name}")
    except (LookupError, ValueError) as error:
        raise MissingValueError(str(error.args[0])) from error


def _region_time(name: str, regions: Mapping[str, float] | None) -> float:
    if regions is None:
        why = f"the time of the region {_quoted(name)} is not known, because the launch has no profile"
        raise MissingValueError(f"{why}; use a program that calls MPI")
    if name in regions:
        return regions[name]
    known = ", ".join(map(_shortened, list(regions)[:_SHOWN_NAMES])) + ", …" * (len(regions) > _SHOWN_NAMES)
    hint = f"use one of {known}" if regions else "mark it in the program with octant_begin and octant_end"
    raise MissingValueError(f"the profile has no region {_quoted(name)}; {hint}")


def parse_number(text: str) -> float:
    """Return the number of a text as C, Python or Fortran print it: `1.5`, `-2e-3`, `1.5D+03`, `0.25-101`.

    Raises:
        ValueError: it is not a finite number; the message completes a sentence that begins with the text.
    """
    text = text.strip()
    if found := _NUMBER.fullmatch(text):
        number = float(f"{found[1]}e{found[2] or found[3] or '0'}")
        if math.isinf(number):
            raise ValueError("is beyond the range of double precision")
        return number
    if _GROUPED.fullmatch(text):
        raise ValueError("is not a number (it contains a comma); print it without grouping, with a decimal point")
    if _NOT_FINITE.fullmatch(text):
        raise ValueError("is not a finite number; the computation of the program failed")
    if text and not text.strip("*"):
        raise ValueError("is not a number (Fortran prints asterisks if a number does not fit its format)")
    if first := _NUMBER.match(text):
        raise ValueError(f"is not a number; try a group that ends after {first[0]!r}, for example ([-+0-9.eE]+)")
    raise ValueError("is not a number; put the number into the first group, for example 'total = ([-+0-9.eE]+)'")


def read_source(source: str, sources: Sources) -> tuple[str, int]:
    """Return the text of a source, and the number of omitted bytes between its beginning and its end.

    Raises:
        MissingValueError: the file is missing, not a regular file, or older than the launch.
    """
    path = sources.path(source)
    if _is_output(source) and source not in sources.outputs:
        raise MissingValueError(f"{source} was not captured")
    try:
        with open_plain(path) as file:
            status = os.fstat(file.fileno())
            check_fresh(source, status.st_mtime, sources)
            content, left_out = file.read(MAX_BYTES), 0
            if status.st_size > MAX_BYTES:
                left_out = status.st_size - MAX_BYTES
                file.seek(-(MAX_BYTES // 2), os.SEEK_END)
                content = content[: MAX_BYTES // 2] + b"\n" + file.read(MAX_BYTES // 2)
    except OSError as error:
        raise MissingValueError(missing_text(source, error)) from error
    return content.decode(errors="replace"), left_out


def open_plain(path: Path) -> BinaryIO:
    """Open a regular file for reading, without waiting for pipes or devices.

    Raises:
        OSError: the file cannot be read, or is not a regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def missing_text(source: str, error: OSError) -> str:
    """Return why a file of the program cannot be read, and what to do."""
    if isinstance(error, FileNotFoundError):
        return f"{source} does not exist after the launch; use a path relative to the working directory of the program"
    return f"{source} cannot be read ({error.strerror})"


def check_fresh(source: str, changed_s: float, sources: Sources) -> None:
    """Raise `MissingValueError` if a file is older than the launch and thus was not written by it."""
    if not _is_output(source) and changed_s < sources.begun_s - STALE_S:
        why = "its modification time is before the start of the launch"
        raise MissingValueError(f"{source} was not written by this launch ({why}); use a file that each launch writes")


def _is_output(source: str) -> bool:
    return source in (STDOUT, STDERR)


def _last_match(value: ProgramValue, text: str, sources: Sources, implied: bool = False) -> str:
    """Return the first group of the last match of a regular expression; without groups, the whole match."""
    last: regex.Match[str] | None = None
    try:
        pattern = compile_pattern(value.pattern)
        for last in pattern.finditer(text, timeout=SEARCH_S):  # noqa: B007 - the last one is wanted
            pass
    except TimeoutError:
        why = f"the search for {_quoted(value.pattern)} in {value.source} took more than {SEARCH_S:g} s"
        hint = "use an expression without nested repetitions such as (a+)+"
        raise MissingValueError(f"{why}; {hint}") from None
    except ValueError as error:
        raise MissingValueError(f"invalid regular expression {_quoted(value.pattern)} ({error})") from error
    if last is None:
        raise MissingValueError(_no_match_text(value, text, sources, implied))
    found = last[1] if pattern.groups else last[0]
    if found is None:
        raise MissingValueError(f"the first group of {_quoted(value.pattern)} matches nothing in {_quoted(last[0])}")
    return str(found)


def _no_match_text(value: ProgramValue, text: str, sources: Sources, implied: bool) -> str:
    """Return that nothing matches, with the line that is most similar to the expression, and what to do."""
    what = f"no number follows {_quoted(value.name)}" if implied else f"{_quoted(value.pattern)} matches nothing"
    message = f"{what} in {value.source}"
    if not text.strip():
        message += ", which is empty"
    elif nearest := nearest_line(re.escape(value.name) if implied else value.pattern, text):
        message += f"; the most similar line is {_quoted(nearest)}"
    if _is_output(value.source) and sources.cut:
        message += f"; {'; '.join(sources.cut)}"
    step = f"describe it with --value {_quoted(f'{value.name}=REGEX')}" if implied else _next_step(value, text, sources)
    return f"{message}; {step}"


def _next_step(value: ProgramValue, text: str, sources: Sources) -> str:
    if _matches(f"(?i){value.pattern}", text):
        return f"the expression matches if case is ignored; try {_quoted(f'(?i){value.pattern}')}"
    for other in (STDOUT, STDERR):
        if (
            other != value.source
            and other in sources.outputs
            and _matches(value.pattern, read_source(other, sources)[0])
        ):
            word = f"{value.name}[{value.unit},{value.better},{other}]={value.pattern}"
            return f"the expression matches in {other}; try --value {_quoted(word)}"
    return "change the regular expression, or let the program print the value"


def _matches(pattern: str, text: str) -> bool:
    try:
        return compile_pattern(pattern).search(text, timeout=SEARCH_S) is not None
    except (ValueError, TimeoutError):
        return False


def nearest_line(pattern: str, text: str) -> str:
    """Return the line that is most similar to the literal text of a regular expression; "": no line is similar.

    Only the first and last lines of a long text and the beginning of long lines are compared.
    """
    literal = " ".join(_SYNTAX.sub(" ", pattern).split()).lower()
    lines = [line[:_COMPARED_CHARS].strip() for line in text.splitlines()]
    half = _COMPARED_LINES // 2
    lines = list(dict.fromkeys(filter(None, lines if len(lines) <= _COMPARED_LINES else lines[:half] + lines[-half:])))
    wanted = _triples(literal)
    shared = sorted(((len(wanted & _triples(line.lower())), line) for line in lines), key=lambda one: -one[0])[:20]
    near = [line for count, line in shared if count]
    return max(near, key=lambda line: SequenceMatcher(None, literal, line.lower()).ratio(), default="")


def _triples(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


def _found_in_json(path: str, source: str, text: str) -> str:
    """Return the number at a path of a JSON document, which is the whole text or its last JSON line."""
    document = _document(text)
    if document is None:
        raise MissingValueError(f"{source} contains no JSON document; use a regular expression")
    found = _walk(document, path)
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        kind = {dict: "an object", list: "an array", bool: "a Boolean"}.get(type(found), "null")
        raise MissingValueError(f"{path} in {source} is {kind}, not a number")
    return found if isinstance(found, str) else repr(found)


def _document(text: str) -> object:
    """Return the JSON document in a text, or in one of its last lines; `None`: there is none."""
    for candidate in (text, *reversed(text.splitlines()[-_LAST_LINES:])):
        if candidate.lstrip()[:1] in ("{", "["):
            try:
                return json.loads(candidate)
            except (ValueError, RecursionError):
                continue
    return None


def _walk(document: object, path: str) -> object:
    """Return the element at a path of names and indices; a name may contain points.

    Raises:
        MissingValueError: the document has no such path; the message states where it ends.
    """
    parts, found, reached = path.split("."), document, ""
    while parts:
        for count in range(1, len(parts) + 1):
            step = _step(found, ".".join(parts[:count]))
            if step is not _ABSENT:
                break
        else:
            raise MissingValueError(f"the document has no {path} ({_content_text(found, reached)})")
        found, reached, parts = step, ".".join(filter(None, [reached, *parts[:count]])), parts[count:]
    return found


def _step(found: object, name: str) -> object:
    if isinstance(found, dict):
        return found.get(name, _ABSENT)
    if isinstance(found, list) and re.fullmatch(r"-?[0-9]{1,9}", name) and -len(found) <= int(name) < len(found):
        return found[int(name)]
    return _ABSENT


def _content_text(found: object, reached: str) -> str:
    """Return a short description of a part of a document, for messages about a wrong path."""
    where = reached or "the document"
    if isinstance(found, dict):
        names = ", ".join(_shortened(str(name)) for name in list(found)[:_SHOWN_NAMES])
        return f"{where} contains {names}{', …' * (len(found) > _SHOWN_NAMES)}" if found else f"{where} is empty"
    if isinstance(found, list):
        return f"{where} is an array of {counted(len(found), 'element')}; indices start at 0"
    return f"{where} is {_shortened(json.dumps(found))}"


def _quoted(text: str) -> str:
    return f"'{_shortened(text)}'"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
