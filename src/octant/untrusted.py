"""Reads what others wrote: files up to a size, TOML and JSON up to a depth."""

import json
import os
import re
import stat
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octant.failure import Exit, Refusal, suggestion

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

FILE_LIMIT = 16 * 2**20
"""Bytes of the largest input file, where its reader names no other limit."""
DEEPEST = 64
"""Levels of tables, arrays and objects in an input."""
MOST_KEYS = 50_000
"""Keys, tables and arrays in a TOML document: Python's reader takes up to a kilobyte for each part of a key."""
MOST_VALUES = 500_000
"""Further values in one: they take 2 µs each."""
_KEY_PART = re.compile(r"[^\n=,#\[\]{}]*")


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


def exists(path: Path) -> bool:
    """Whether something of that name is there; pathlib raises where nothing can have it, since it is too long."""
    return os.path.exists(path)  # noqa: PTH110


def is_file(path: Path) -> bool:
    """Whether a plain file, or a link to one, of that name is there; see `exists`."""
    return os.path.isfile(path)  # noqa: PTH113


def parse_toml(text: str, what: str) -> dict[str, Any]:
    """A TOML document; `what` names it in the refusal: `network file x.toml`.

    Raises:
        Refusal: it is no TOML, nested deeper than `DEEPEST`, has more than `MOST_KEYS` or `MOST_VALUES`, or an integer
            of thousands of digits.
    """
    _check_keys(text, what)
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


def _check_keys(text: str, what: str) -> None:
    """Refuses what `tomllib` takes gigabytes for: its memory for a key grows with the square of the key's parts."""
    keys, values = text.count("=") + text.count("["), max(text.count(","), text.count("."))
    run = long = 0
    for part in text.split(".") if values <= MOST_VALUES else ():
        run = run + 1 if _KEY_PART.fullmatch(part) else 0
        long += run > 3
        if run > DEEPEST:
            raise _too_deep(what)
    if keys > MOST_KEYS or values > MOST_VALUES or long > MOST_KEYS:
        raise Refusal(
            f"cannot read the {what} (more than {MOST_KEYS} keys and arrays or {MOST_VALUES} values, or nested deeper "
            f"than {DEEPEST} levels); put long lists into a file of their own",
            Exit.WRONG_WORD,
        )


def _check_depth(value: object, what: str) -> None:
    level = [value]
    for _ in range(DEEPEST + 1):
        containers = [one for one in level if isinstance(one, dict | list)]
        if not containers:
            return
        level = [item for one in containers for item in (one.values() if isinstance(one, dict) else one)]
    raise _too_deep(what)


@dataclass(frozen=True)
class Mistake:
    """What is wrong in a table that a model does not accept: keys down to the place, why, and what to do about it."""

    path: tuple[str, ...]
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"({'.'.join(self.path) or 'the whole'}: {self.reason}); {self.hint}"


def mistakes(error: "ValidationError", model: "type[BaseModel]") -> list[Mistake]:
    """What pydantic found, in our words: unknown keys, kinds and words with those that may have been meant."""
    return [_mistake(one, model) for one in error.errors(include_url=False)]


def _mistake(problem: Any, model: "type[BaseModel]") -> Mistake:
    path, known = _walk(model.__pydantic_core_schema__, problem["loc"])
    context, kind = problem.get("ctx", {}), problem["type"]
    if kind == "missing":
        return Mistake(path, "this key is missing", "add it")
    if kind == "extra_forbidden":
        return Mistake(path, "there is no such key", suggestion(path[-1], known) if known else "remove it")
    if kind in ("literal_error", "enum", "union_tag_invalid"):
        words = re.findall(r"'([^']*)'", context.get("expected_tags") or context["expected"])
        given = str(context.get("tag") or problem["input"])
        path = (*path, context["discriminator"].strip("'")) if "tag" in context else path
        return Mistake(path, f"no such word {given[:60]!r}", suggestion(given, words))
    if kind == "union_tag_not_found":
        return Mistake((*path, context["discriminator"].strip("'")), "this key is missing", "add it")
    reason, _, hint = str(problem["msg"]).removeprefix("Value error, ")[:300].partition("; ")
    return Mistake(path, reason, hint or "correct it")


def _walk(schema: Any, places: Sequence[int | str]) -> tuple[tuple[str, ...], list[str]]:
    """The keys of the file on the way to a place (pydantic names kinds too), and those that are known where it ends."""
    path: list[str] = []
    known: list[str] = []
    definitions: dict[str, Any] = {}
    for place in places:
        while schema and schema["type"] not in ("model-fields", "tagged-union", "dict", "list", "tuple"):
            definitions |= {one["ref"]: one for one in schema.get("definitions", ())}
            schema = definitions.get(schema["schema_ref"]) if "schema_ref" in schema else schema.get("schema")
        kind = schema["type"] if schema else ""
        if kind == "tagged-union":
            schema = schema["choices"].get(place)
            continue
        known = list(schema["fields"]) if kind == "model-fields" else []
        path.append(str(place))
        match kind:
            case "model-fields":
                schema = schema["fields"].get(place)
            case "dict":
                schema = schema.get("values_schema")
            case "list":
                schema = schema.get("items_schema")
            case "tuple":
                items = schema["items_schema"]
                schema = items[min(int(place), len(items) - 1)] if items else None
            case _:
                schema = None
    return tuple(path), known
