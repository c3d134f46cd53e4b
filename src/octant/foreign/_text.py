"""Lines and numbers of imported text."""

import math
import re
from dataclasses import dataclass
from datetime import datetime

from octant.failure import Exit, Refusal

LONGEST = 4096
"""Maximum number of characters of an interpreted line."""
LONGEST_WORD = 60
MAX_LINES = 30_000
"""Maximum number of lines of a file; parsing a line takes up to 25 µs."""
_NUMBER = re.compile(r"[+-]?(?P<whole>[0-9]{1,18})(?:[.,](?P<part>[0-9]{1,18}))?(?:[eE](?P<tens>[+-]?[0-9]{1,3}))?")
_NO_NUMBER = re.compile(r"[+-]?(?:nan(?:\([^)]*\))?|inf(?:inity)?|\*+)", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    """A line of a file."""

    number: int  # from 1
    text: str  # for readers: without control sequences, prefixes, and surrounding spaces


@dataclass(frozen=True)
class Rounded:
    """A rounded number: the exact value is at most `half` away."""

    value: float
    half: float

    @property
    def low(self) -> float:
        """Smallest possible exact value, not below 0."""
        return max(0.0, self.value - self.half)

    @property
    def high(self) -> float:
        """Largest possible exact value."""
        return self.value + self.half

    def times(self, factor: float) -> "Rounded":
        """Return the number in another unit."""
        return Rounded(self.value * factor, self.half * factor)


def lines_of(text: str) -> tuple[list[Line], int]:
    """Return the complete lines of a text, cut at 2 × `LONGEST`, and the number of an incomplete last line.

    A last line without a line end is incomplete and not returned. The number is 0 if there is none.

    Raises:
        Refusal: the text has more than `MAX_LINES`.
    """
    if text.count("\n") + text.count("\r") > 2 * MAX_LINES:
        raise _too_many_lines()
    parts = re.split(r"\r\n|\n|\r", text)
    if len(parts) > MAX_LINES:
        raise _too_many_lines()
    torn = len(parts) if parts[-1].strip() else 0
    return [Line(number, part[: 2 * LONGEST]) for number, part in enumerate(parts[:-1], 1)], torn


def _too_many_lines() -> Refusal:
    why = f"it has more than {MAX_LINES} lines"
    return Refusal(f"cannot read the output: {why}; divide it into several files", Exit.WRONG_WORD)


def number_of(word: str) -> Rounded | None:
    """Parse a number with a decimal point or comma; nan for printed NaN and infinity, `None` for other words."""
    found = _NUMBER.fullmatch(word)
    if found is None:
        return Rounded(math.nan, 0.0) if _NO_NUMBER.fullmatch(word) else None
    value = float(word.replace(",", "."))
    digits = len(found["part"] or "")
    return Rounded(value, 0.5 * 10.0 ** (int(found["tens"] or 0) - digits)) if math.isfinite(value) else None


def count_of(word: str) -> int | None:
    """Parse an integer from 0 to 10^18; `None` for other words."""
    return int(word) if re.fullmatch(r"[0-9]{1,18}", word) else None


def ranks_of(word: str) -> int | None:
    """Parse a number of processes or threads from 1 to 10 million; `None` for other words."""
    count = count_of(word)
    return count if count and count <= 10_000_000 else None


def word_of(text: str) -> str:
    """Convert text to the value of a knob: letters, digits and `._+-`, at most 60 characters."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", text.strip())[:LONGEST_WORD].strip("_") or "unnamed"


def slug_of(text: str) -> str:
    """Convert text to a part of a name: lower-case letters, digits and `_`."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower())[:LONGEST_WORD].strip("_") or "unnamed"


def date_of(text: str) -> str:
    """Convert `Sun Nov 22 22:53:48 2026` to ISO 8601 in the local time of the run; "" for other texts."""
    try:
        return datetime.strptime(" ".join(text.split()), "%a %b %d %H:%M:%S %Y").isoformat()
    except ValueError:
        return ""
