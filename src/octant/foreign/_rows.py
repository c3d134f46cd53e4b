"""Tells rows of a table that could not be read from other text: a figure that is left out is reported."""

from octant.foreign._clean import without_prefix
from octant.foreign._text import number_of


def looks_like_row(text: str) -> bool:
    """Return whether a line, after what may be the prefix of a launcher, has numbers and verdicts alone."""
    words = without_prefix(text).split()
    return bool(words) and all(number_of(word) or word.lower() in ("pass", "fail") for word in words)
