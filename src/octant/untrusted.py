"""Reads what others wrote: files up to a size, TOML and JSON up to a depth."""

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from octant.failure import Exit, Refusal

FILE_LIMIT = 16 * 2**20
"""Bytes of the largest input file, where its reader names no other limit."""
DEEPEST = 64
"""Levels of tables, arrays and objects in an input."""


def read_text(path: Path, what: str, limit: int = FILE_LIMIT) -> str:
    """The text of a file of the user's; `what` names its kind in the refusal: `network file`.

    Raises:
        Refusal: it is not there, no plain file (a device, a pipe, a folder), longer than `limit` bytes, or not UTF-8.
    """
    try:
        # a pipe without a writer must not hold us up
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Refusal(f"cannot read the {what} {path} (it is no plain file); give a file", Exit.WRONG_WORD)
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise Refusal(f"cannot read the {what} {path} ({reason}); give a file that can be read") from error
    if len(data) > limit:
        raise Refusal(f"cannot read the {what} {path} (longer than {limit} bytes); give a shorter one", Exit.WRONG_WORD)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = f"cannot read the {what} {path} (byte {error.start} is not UTF-8); give a text file"
        raise Refusal(text, Exit.WRONG_WORD) from None


def parse_toml(text: str, what: str) -> dict[str, Any]:
    """A TOML document; `what` names it in the refusal: `network file x.toml`.

    Raises:
        Refusal: it is no TOML, nested deeper than `DEEPEST`, or has an integer of thousands of digits.
    """
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise _too_deep(what) from None
    except ValueError as error:
        raise Refusal(f"cannot read the {what} ({error}); correct it there", Exit.WRONG_WORD) from None
    _check_depth(found, what)
    return found


def parse_json(text: str, what: str) -> Any:
    """A JSON value without NaN and infinities; `what` names it in the refusal.

    Raises:
        Refusal: as `parse_toml`.
    """
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise _too_deep(what) from None
    except ValueError as error:
        raise Refusal(f"cannot read the {what} ({error}); correct it there", Exit.WRONG_WORD) from None
    _check_depth(found, what)
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _too_deep(what: str) -> Refusal:
    return Refusal(f"cannot read the {what} (nested deeper than {DEEPEST} levels); make it flatter", Exit.WRONG_WORD)


def _check_depth(value: object, what: str) -> None:
    level = [value]
    for _ in range(DEEPEST + 1):
        containers = [one for one in level if isinstance(one, dict | list)]
        if not containers:
            return
        level = [item for one in containers for item in (one.values() if isinstance(one, dict) else one)]
    raise _too_deep(what)
