"""Lines and numbers of foreign text."""

import math
import re
from dataclasses import dataclass
from datetime import datetime

from octant.failure import Exit, Refusal

LONGEST = 4096
"""Characters of a line that is looked at."""
LONGEST_WORD = 60
MOST_LINES = 30_000
"""Of a file; a line takes up to 25 µs to read."""
_NUMBER = re.compile(r"[+-]?(?P<whole>[0-9]{1,18})(?:[.,](?P<part>[0-9]{1,18}))?(?:[eE](?P<tens>[+-]?[0-9]{1,3}))?")
_NO_NUMBER = re.compile(r"[+-]?(?:nan(?:\([^)]*\))?|inf(?:inity)?|\*+)", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    """A line of a file."""

    number: int  # from 1
    text: str  # a reader gets it without control sequences, prefixes, and spaces at its ends


@dataclass(frozen=True)
class Rounded:
    """A number as it was printed: what it stands for is at most `half` away."""

    value: float
    half: float

    @property
    def low(self) -> float:
        """The least that it may stand for."""
        return max(0.0, self.value - self.half)

    @property
    def high(self) -> float:
        """The most that it may stand for."""
        return self.value + self.half

    def times(self, factor: float) -> "Rounded":
        """Return the same in another unit."""
        return Rounded(self.value * factor, self.half * factor)


def lines_of(text: str) -> tuple[list[Line], int]:
    """Return the lines of a text without their ends, cut at 2 × `LONGEST`, and the number of the last if it may be torn.

    It may be if it has no end; then it is not among the lines, and the number is 0 otherwise.

    Raises:
        Refusal: the text has more than `MOST_LINES`.
    """
    if text.count("\n") + text.count("\r") > 2 * MOST_LINES:
        raise _too_many_lines()
    parts = re.split(r"\r\n|\n|\r", text)
    if len(parts) > MOST_LINES:
        raise _too_many_lines()
    torn = len(parts) if parts[-1].strip() else 0
    return [Line(number, part[: 2 * LONGEST]) for number, part in enumerate(parts[:-1], 1)], torn


def _too_many_lines() -> Refusal:
    why = f"it has more than {MOST_LINES} lines"
    return Refusal(f"cannot read the output ({why}); give the output of fewer benchmarks at a time", Exit.WRONG_WORD)


def number_of(word: str) -> Rounded | None:
    """Return a number with a decimal point or comma, or nan for what C prints where there is none; `None` for other words."""
    found = _NUMBER.fullmatch(word)
    if found is None:
        return Rounded(math.nan, 0.0) if _NO_NUMBER.fullmatch(word) else None
    value = float(word.replace(",", "."))
    digits = len(found["part"] or "")
    return Rounded(value, 0.5 * 10.0 ** (int(found["tens"] or 0) - digits)) if math.isfinite(value) else None


def count_of(word: str) -> int | None:
    """Return a whole number from 0 to 10^18; `None` for other words."""
    return int(word) if re.fullmatch(r"[0-9]{1,18}", word) else None


def ranks_of(word: str) -> int | None:
    """Return how many processes or threads a word says there were, 1 to 10 million; `None` where it cannot be."""
    count = count_of(word)
    return count if count and count <= 10_000_000 else None


def word_of(text: str) -> str:
    """Return a foreign text as the value of a knob: letters, digits and `._+-`, no longer than 60."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", text.strip())[:LONGEST_WORD].strip("_") or "unnamed"


def slug_of(text: str) -> str:
    """Return a foreign name as a part of one of ours: small letters, digits and `_`."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower())[:LONGEST_WORD].strip("_") or "unnamed"


def date_of(text: str) -> str:
    """Return the ISO form of `Sun Nov 22 22:53:48 2026`, in the time of wherever it was written; "" for other texts."""
    try:
        return datetime.strptime(" ".join(text.split()), "%a %b %d %H:%M:%S %Y").isoformat()
    except ValueError:
        return ""
