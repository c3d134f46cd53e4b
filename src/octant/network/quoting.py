"""Parts of foreign files in messages."""

_SHOWN = 60  # characters of a foreign line in a message


def quoted(words: str) -> str:
    """Return what a message quotes of a file: enough for its author to find it, with control characters escaped."""
    return repr(words if len(words) <= _SHOWN else words[:_SHOWN] + "…")
