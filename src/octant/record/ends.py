"""Kinds of ends of failures: by name, or by the code alone in records of versions 0.1 and 0.2."""

from octant.failure import Exit
from octant.record import RecordError

_OLD = {1: Exit.CANNOT_RUN, 2: Exit.WRONG_WORD, 3: Exit.NOT_SUPPORTED}
"""Codes of failures of versions 0.1 and 0.2. A wrong result was 2, too, but was recorded as a point."""


def name_of(code: int) -> str:
    """Return the name of an exit code in records, the same in both languages: `not_supported`.

    Raises:
        ValueError: the number is no exit code of Octant.
    """
    return Exit(code).name.lower()


def read_end(name: str, code: int) -> Exit:
    """Return the exit code that a recorded failure means.

    Args:
        name: of the end, as `name_of` gives it; empty in records of versions 0.1 and 0.2.
        code: recorded number, used if there is no name; launches with other numbers were repeated.

    Raises:
        RecordError: no such name.
    """
    if not name:
        return _OLD.get(code, Exit.CANNOT_RUN)
    try:
        return Exit[name.upper()]
    except KeyError:
        raise RecordError(f"unknown kind of end ({name[:40]!r})") from None
