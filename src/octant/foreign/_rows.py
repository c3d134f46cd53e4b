"""Detection of rows that could not be parsed, so that missing figures are reported."""

from octant.foreign._clean import without_prefix
from octant.foreign._text import number_of


def looks_like_row(text: str) -> bool:
    """Return whether a line, without a possible prefix, has only numbers and verdicts."""
    words = without_prefix(text).split()
    return bool(words) and all(number_of(word) or word.lower() in ("pass", "fail") for word in words)
