"""Numbers that a program printed or wrote, found by a regular expression or by a path in JSON."""

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
from typing import BinaryIO

import regex

from octant.program import STDERR, STDOUT, ProgramValue
from octant.units import counted

MOST_BYTES = 16 << 20
"""Bytes of a source that are read: half of them from its beginning, half from its end."""
SEARCH_S = 5.0
"""Time limit of a search with a regular expression."""
STALE_S = 2.0
"""A file that is older than its launch by more than this was not written by it; some file systems store whole seconds
and times of a server."""
_COMPARED_LINES, _COMPARED_CHARS, _SHOWN_CHARS, _SHOWN_NAMES = 5000, 200, 120, 8
_LAST_LINES = 100  # of a text that is no JSON document, in which one line may be
_ABSENT = object()
_MANTISSA = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_NUMBER = re.compile(rf"({_MANTISSA})(?:[eEdDqQ]([+-]?[0-9]+)|([+-][0-9]+))?")
"""As C, Python and Fortran print numbers; Fortran omits the letter before an exponent of three digits."""
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[+-]?[0-9]+,[0-9]+")
_NOT_FINITE = re.compile(r"[+-]?(?:nan(?:\([^)]*\))?|inf(?:inity)?)", re.IGNORECASE)
_SYNTAX = re.compile(r"\\[a-zA-Z]|\[\^?\]?[^\]]*\]|\(\?[a-zA-Z:=!<>]*|[][\\^$.|?*+(){}]")
"""What of a regular expression is no literal text."""


class MissingValueError(Exception):
    """A value is missing; the message states the reason and the next step."""


@dataclass(frozen=True)
class Sources:
    """The texts of one launch that may contain values."""

    outputs: Mapping[str, Path]  # files that hold the captured "stdout" and "stderr"
    folder: Path  # in which the program worked
    begun_s: float = 0.0  # start of the launch, seconds since the epoch
    cut: Sequence[str] = ()  # what of the outputs was not captured, a sentence each

    def path(self, source: str) -> Path:
        """Return the file of a source: "stdout", "stderr", or a file relative to the folder."""
        return self.outputs.get(source, self.folder / os.devnull) if _is_output(source) else self.folder / source


def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """Return the compiled regular expression, in which `^` and `$` match at each line.

    Raises:
        ValueError: the text is no regular expression; the message says why.
    """
    try:
        return regex.compile(pattern, regex.MULTILINE)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def read_value(value: ProgramValue, sources: Sources, implied: bool = False) -> float:
    """Return the number that a value has in a launch: in its last match.

    Args:
        value: where it is.
        sources: of the launch.
        implied: no `--value` of the user describes it, so that messages do not show its expression.

    Raises:
        MissingValueError: there is no match, the match is no finite number, or the search takes too long.
    """
    text, left_out = read_source(value.source, sources)
    if value.path:
        if left_out:
            raise MissingValueError(f"{value.source} is larger than {MOST_BYTES >> 20} MiB; try a regular expression")
        found = _found_in_json(value.path, value.source, text)
    else:
        found = _last_match(value, text, sources, implied)
    try:
        return parse_number(found)
    except ValueError as error:
        raise MissingValueError(f"{_quoted(found)} in {value.source} {error}") from error


def parse_number(text: str) -> float:
    """Return the number of a text as C, Python or Fortran print it: `1.5`, `-2e-3`, `1.5D+03`, `0.25-101`.

    Raises:
        ValueError: it is no finite number; the message completes the sentence that begins with the text.
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
        raise ValueError("is not a finite number; the program computed no value")
    if text and not text.strip("*"):
        raise ValueError("is not a number (Fortran prints asterisks if a number does not fit its format)")
    if first := _NUMBER.match(text):
        raise ValueError(f"is not a number; try a group that ends after {first[0]!r}, for example ([-+0-9.eE]+)")
    raise ValueError("is not a number; put the number into the first group, for example 'total = ([-+0-9.eE]+)'")


def read_source(source: str, sources: Sources) -> tuple[str, int]:
    """Return the text of a source, and how many bytes between its beginning and its end were left out.

    Raises:
        MissingValueError: the file is missing, not a plain file, or older than the launch.
    """
    path = sources.path(source)
    if _is_output(source) and source not in sources.outputs:
        raise MissingValueError(f"{source} was not captured")
    try:
        with open_plain(path) as file:
            status = os.fstat(file.fileno())
            check_fresh(source, status.st_mtime, sources)
            content, left_out = file.read(MOST_BYTES), 0
            if status.st_size > MOST_BYTES:
                left_out = status.st_size - MOST_BYTES
                file.seek(-(MOST_BYTES // 2), os.SEEK_END)
                content = content[: MOST_BYTES // 2] + b"\n" + file.read(MOST_BYTES // 2)
    except OSError as error:
        raise MissingValueError(missing_text(source, error)) from error
    return content.decode(errors="replace"), left_out


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading; a pipe or a device is refused without waiting for it.

    Raises:
        OSError: it cannot be read, or is no plain file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no plain file", str(path))
    return os.fdopen(descriptor, "rb")


def missing_text(source: str, error: OSError) -> str:
    """Return why a file of the program cannot be read, and what to try."""
    if isinstance(error, FileNotFoundError):
        return f"{source} does not exist after the launch; name a file relative to the folder of the program"
    return f"{source} cannot be read ({error.strerror})"


def check_fresh(source: str, changed_s: float, sources: Sources) -> None:
    """Raise `MissingValueError` if a file is older than the launch, which then did not write it."""
    if not _is_output(source) and changed_s < sources.begun_s - STALE_S:
        why = "it was last changed before the launch started"
        raise MissingValueError(f"{source} was not written by this launch ({why}); name a file that each launch writes")


def _is_output(source: str) -> bool:
    return source in (STDOUT, STDERR)


def _last_match(value: ProgramValue, text: str, sources: Sources, implied: bool = False) -> str:
    """Return the first group, else the whole, of the last match of a regular expression."""
    last: regex.Match[str] | None = None
    try:
        pattern = compile_pattern(value.pattern)
        for last in pattern.finditer(text, timeout=SEARCH_S):  # noqa: B007 - the last one is wanted
            pass
    except TimeoutError:
        why = f"the search took more than {SEARCH_S:g} s"
        hint = "try one without nested repetitions such as (a+)+"
        raise MissingValueError(f"cannot search {value.source} for {_quoted(value.pattern)} ({why}); {hint}") from None
    except ValueError as error:
        raise MissingValueError(f"cannot read the regular expression {_quoted(value.pattern)} ({error})") from error
    if last is None:
        raise MissingValueError(_no_match_text(value, text, sources, implied))
    found = last[1] if pattern.groups else last[0]
    if found is None:
        raise MissingValueError(f"the first group of {_quoted(value.pattern)} matches nothing in {_quoted(last[0])}")
    return str(found)


def _no_match_text(value: ProgramValue, text: str, sources: Sources, implied: bool) -> str:
    """Return that nothing matches, with the line that is most like the expression, and what to try."""
    what = f"no number follows {_quoted(value.name)}" if implied else f"{_quoted(value.pattern)} matches nothing"
    said = f"{what} in {value.source}"
    if not text.strip():
        said += ", which is empty"
    elif nearest := nearest_line(re.escape(value.name) if implied else value.pattern, text):
        said += f"; the most similar line is {_quoted(nearest)}"
    if _is_output(value.source) and sources.cut:
        said += f"; {'; '.join(sources.cut)}"
    step = f"describe it with --value {_quoted(f'{value.name}=REGEX')}" if implied else _next_step(value, text, sources)
    return f"{said}; {step}"


def _next_step(value: ProgramValue, text: str, sources: Sources) -> str:
    if _matches(f"(?i){value.pattern}", text):
        return f"it matches if case is ignored; try {_quoted(f'(?i){value.pattern}')}"
    for other in (STDOUT, STDERR):
        if (
            other != value.source
            and other in sources.outputs
            and _matches(value.pattern, read_source(other, sources)[0])
        ):
            word = f"{value.name}[{value.unit},{value.better},{other}]={value.pattern}"
            return f"it matches in {other}; try --value {_quoted(word)}"
    return "change the regular expression, or let the program print the value"


def _matches(pattern: str, text: str) -> bool:
    try:
        return compile_pattern(pattern).search(text, timeout=SEARCH_S) is not None
    except (ValueError, TimeoutError):
        return False


def nearest_line(pattern: str, text: str) -> str:
    """Return the line that has most in common with the literal text of a regular expression; "": no line has any.

    Of a long text the first and last lines are looked at, and of a long line its beginning.
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
    """Return the number at a path of a JSON document, or of the last line that is one."""
    document = _document(text)
    if document is None:
        raise MissingValueError(f"{source} is not JSON, nor is one of its last lines; try a regular expression")
    found = _walk(document, path)
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        kind = {dict: "an object", list: "a list", bool: "a truth value"}.get(type(found), "null")
        raise MissingValueError(f"{path} in {source} is {kind}, not a number")
    return found if isinstance(found, str) else repr(found)


def _document(text: str) -> object:
    """Return the JSON document that a text is, or that one of its last lines is; `None`: there is none."""
    for candidate in (text, *reversed(text.splitlines()[-_LAST_LINES:])):
        if candidate.lstrip()[:1] in ("{", "["):
            try:
                return json.loads(candidate)
            except (ValueError, RecursionError):
                continue
    return None


def _walk(document: object, path: str) -> object:
    """Return what is at a path of names and indices; a name may contain points.

    Raises:
        MissingValueError: the document has no such path; the message says how far it goes.
    """
    parts, found, reached = path.split("."), document, ""
    while parts:
        for count in range(1, len(parts) + 1):
            step = _step(found, ".".join(parts[:count]))
            if step is not _ABSENT:
                break
        else:
            raise MissingValueError(f"{path} leads nowhere ({_content_text(found, reached)})")
        found, reached, parts = step, ".".join(filter(None, [reached, *parts[:count]])), parts[count:]
    return found


def _step(found: object, name: str) -> object:
    if isinstance(found, dict):
        return found.get(name, _ABSENT)
    if isinstance(found, list) and re.fullmatch(r"-?[0-9]{1,9}", name) and -len(found) <= int(name) < len(found):
        return found[int(name)]
    return _ABSENT


def _content_text(found: object, reached: str) -> str:
    """Return what a part of a document has, for the one who named something else."""
    where = reached or "the document"
    if isinstance(found, dict):
        names = ", ".join(_shortened(str(name)) for name in list(found)[:_SHOWN_NAMES])
        return f"{where} has {names}{', …' * (len(found) > _SHOWN_NAMES)}" if found else f"{where} is empty"
    if isinstance(found, list):
        return f"{where} is a list of {counted(len(found), 'item')}, counted from 0"
    return f"{where} is {_shortened(json.dumps(found))}"


def _quoted(text: str) -> str:
    return f"'{_shortened(text)}'"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
