"""Quotations of input files in error messages."""

_SHOWN = 60  # characters of a line in an error message


def quoted(words: str) -> str:
    """Quote the beginning of a text, with control characters escaped."""
    return repr(words if len(words) <= _SHOWN else words[:_SHOWN] + "…")
