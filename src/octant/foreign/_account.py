"""Classification of each line of a file: interpreted by the reader, irrelevant, or unrecognised.

A reader marks the lines that it used. `NAME.toml` has patterns of irrelevant lines, with reasons, and of lines in the
syntax of the tool. An unrecognised line in this syntax may change figures, which are then not imported.
"""

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import overload

from octant.foreign._clean import without_prefix
from octant.foreign._output import Account, Output, Table
from octant.foreign._text import LONGEST, Line
from octant.units import counted
from octant.untrusted import parse_toml, read_text

QUOTED = 5
"""Number of unrecognised lines that the summary of an import quotes."""
MAX_REMARKS = 8
LONGEST_QUOTE = 90
REMOVE_LINE = "remove this line from a copy of the file and import the copy"
"""Advice on an unrecognised line that may change figures."""
LONGEST_MATCHED = 1000
"""Maximum length of irrelevant lines; patterns are compared with as many characters."""
NOT_RECOGNISED = "is not recognised"
_BLANK = re.compile(r"[\W_]*")
"""Lines without a letter or digit: blank lines and rules."""


class Lines(Sequence[Line]):
    """Lines of one stream of a file, and the marks of the reader.

    Iteration skips blank lines and lines of more than `LONGEST` characters; `every` has all lines.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        """Initialise with unmarked lines in the order of the file."""
        self.every = tuple(lines)
        self._lines = [line for line in self.every if line.text and len(line.text) <= LONGEST]
        self.used: set[int] = set()
        self.refused: dict[int, list[str]] = {}

    @overload
    def __getitem__(self, place: int) -> Line: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Line]: ...
    def __getitem__(self, place: int | slice) -> Line | Sequence[Line]:
        """Return a line, or a list of lines, by position in the stream."""
        return self._lines[place]

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self._lines)

    def __iter__(self) -> Iterator[Line]:
        """Iterate over the lines."""
        return iter(self._lines)

    def use(self, *lines: Line | int) -> None:
        """Mark lines, or their numbers, as interpreted."""
        self.used.update(line if isinstance(line, int) else line.number for line in lines)

    def refuse(self, line: Line | int, consequence: str) -> None:
        """Mark a line of the tool as unrecognised; the reader does not import what the line could change.

        Args:
            consequence: a clause for the remark: `the column "Foo" is not imported`.
        """
        self.refused.setdefault(line if isinstance(line, int) else line.number, []).append(consequence)


@dataclass(frozen=True)
class KnownLines:
    """Patterns of lines of a tool, from `NAME.toml`."""

    irrelevant: re.Pattern[str]
    syntax: re.Pattern[str]
    results: re.Pattern[str]  # the part of the syntax that holds results
    expected: tuple[str, ...] = ()  # typical lines; error messages quote the most similar line of a file
    others: tuple[tuple[str, str], ...] = ()  # (pattern, program) for lines of similar programs
    reasons: tuple[tuple[str, str], ...] = field(default=(), compare=False)  # (pattern, reason)

    def other(self, lines: Iterable[Line]) -> str:
        """Return the first line that a similar program printed, with its name; "" if there is none."""
        found = (
            f"{quote(line)} is a line of {program}"
            for line in lines
            for pattern, program in self.others
            if re.fullmatch(pattern, line.text[:LONGEST_MATCHED])
        )
        return next(found, "")

    def reason(self, text: str) -> str:
        """Return why a line is irrelevant; "" if it is not."""
        return next((why for pattern, why in self.reasons if re.fullmatch(pattern, text)), "")


@functools.cache
def known_lines(path: Path) -> KnownLines | None:
    """Return the patterns in the TOML file of a tool; `None` if there is no such file.

    Raises:
        Refusal: invalid TOML.
        KeyError, re.error: a member is missing, or a pattern is invalid.
    """
    if not path.is_file():
        return None
    data = parse_toml(read_text(path, "known lines"), f"known lines {path.name}")
    reasons = [(pattern, entry["reason"]) for entry in data["irrelevant"] for pattern in entry["patterns"]]
    syntax = [(pattern, entry.get("result", False)) for entry in data["syntax"] for pattern in entry["patterns"]]
    return KnownLines(
        _any_of(pattern for pattern, _ in reasons),
        _any_of(pattern for pattern, _ in syntax),
        _any_of(pattern for pattern, result in syntax if result),
        tuple(data["expected"]),
        tuple((pattern, entry["program"]) for entry in data.get("other", ()) for pattern in entry["patterns"]),
        tuple(reasons),
    )


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) or "(?!)")


def settle(lines: Lines, known: KnownLines | None, found: Output) -> Output:
    """Return the output with the counts of lines, and without tables that unrecognised lines could change.

    Args:
        lines: the lines, marked by the reader.
        known: patterns of the tool; `None`: lines are not counted.
        found: the result of the reader.
    """
    if known is None:
        return found
    interpreted = irrelevant = 0
    unknown: list[tuple[Line, bool]] = []
    for line in lines.every:
        if line.number in lines.refused:
            unknown.append((line, True))
        elif line.number in lines.used:
            interpreted += 1
        elif _is_irrelevant(known, line.text):
            irrelevant += 1
        else:
            unknown.append((line, _is_like(known.syntax, line.text)))
    numbers = [line.number for line, own in unknown if own and line.number not in lines.refused]
    tables = tuple(table for table in found.tables if not _is_affected(table, numbers))
    remarks = _remarks(lines, known, unknown, found)
    quoted = [quote(line) for line, _ in sorted(unknown, key=lambda one: not one[1])[:QUOTED]]
    account = Account(interpreted, irrelevant, len(unknown), tuple(quoted))
    return replace(found, tables=tables, remarks=(*found.remarks, *remarks), account=account)


def _remarks(lines: Lines, known: KnownLines, unknown: Sequence[tuple[Line, bool]], found: Output) -> list[str]:
    """Return remarks on unrecognised lines that excluded figures: at most `MAX_REMARKS`, then a count of others."""
    remarks: list[str] = []
    more = 0
    for line, own in unknown:
        refused = lines.refused.get(line.number, [])
        if len(remarks) >= MAX_REMARKS:
            more += own
        elif refused:
            remarks += [f"{quote(line)} {NOT_RECOGNISED}: {one}" for one in refused]
        elif own and (affected := [table for table in found.tables if _is_affected(table, [line.number])]):
            remarks.append(_refused(line, affected))
        elif own and (not found.tables or _is_like(known.results, line.text)):
            remarks.append(f"{quote(line)} {NOT_RECOGNISED}")
    return [*remarks, *([f"{counted(more, 'more line')} of the tool were not recognised"] if more else [])]


def _is_affected(table: Table, numbers: Sequence[int]) -> bool:
    """Return whether one of these lines, in order, is in the scope of a table."""
    if not table.scope:
        return bool(numbers)
    return any(bisect_left(numbers, begin) < bisect_right(numbers, end) for begin, end in table.scope)


def _is_irrelevant(known: KnownLines, text: str) -> bool:
    return len(text) <= LONGEST_MATCHED and bool(_BLANK.fullmatch(text) or known.irrelevant.fullmatch(text))


def _is_like(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a line matches a pattern, with or without a possible prefix."""
    shown = text[:LONGEST_MATCHED]
    return bool(pattern.fullmatch(shown) or pattern.fullmatch(without_prefix(shown)))


def _refused(line: Line, affected: Sequence[Table]) -> str:
    names = ", ".join(f"{table.benchmark} (line {table.line})" for table in affected[:3])
    more = f" and {len(affected) - 3} more" if len(affected) > 3 else ""
    return (
        f"{quote(line)} {NOT_RECOGNISED} and may change figures; not imported: {names}{more}. If the line does not "
        f"change them, {REMOVE_LINE}"
    )


def quote(line: Line) -> str:
    """Return e.g. `line 14 ("Buffers : DEVICE")`, shortened and without control characters."""
    text = "".join(character if character.isprintable() else " " for character in line.text[: LONGEST_QUOTE + 1])
    return f'line {line.number} ("{text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…"}")'


def nearest(lines: Sequence[Line], expected: Iterable[str]) -> Line | None:
    """Return the line that shares most words with an expected line; `None` if there are no lines.

    The first of equally similar lines is used; without common words, the first line that is not blank.
    """
    wanted = [frozenset(re.findall(r"\w+", text.lower())) for text in expected]
    best, score = None, -1.0
    for line in lines:
        words = frozenset(re.findall(r"\w+", line.text[:400].lower()))
        if words and (here := max((len(words & one) / len(words | one) for one in wanted), default=0.0)) > score:
            best, score = line, here
    return best
