"""Readers of foreign input: files with a size limit, TOML and JSON with a depth limit, typed tables."""

import os
import re
import stat
import tomllib
from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from octant.failure import Exit, Refusal, suggestion

FILE_LIMIT = 16 * 2**20
"""Default size limit of input files in bytes."""
DEEPEST = 64
"""Maximum nesting of tables, arrays and objects."""
MAX_KEYS = 50_000
"""Maximum number of keys, tables and arrays in a TOML document; Python needs up to 1 kB for each part of a key."""
MAX_VALUES = 500_000
"""Maximum number of other values; each takes 2 µs."""
_KEY_PART = re.compile(r"[^\n=,#\[\]{}]*")
_SHOWN = 60  # characters of an input value in a message
_NAMES = {"object": "table", "str": "string", "int": "integer", "float": "number", "bool": "boolean"}
"""Types in messages of msgspec, in the terms of TOML."""
_TYPE = re.compile(r"`([^`]*)`")  # in these messages
_HEADER = re.compile(r"\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_KEY_NAME = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_T = TypeVar("_T")


def read_bytes(path: Path, what: str, limit: int = FILE_LIMIT) -> bytes:
    """Return the content of a user's file; `what` names its kind in the refusal: `profile`.

    Raises:
        Refusal: it does not exist, is not a regular file, or is longer than `limit` bytes.
    """
    try:
        # a pipe without a writer must not block
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Refusal(f"cannot read the {what} {path} (not a regular file); give a file", Exit.WRONG_WORD)
            data = file.read(min(limit, status.st_size) + 1)  # a buffer of the limit would be allocated, too
            if len(data) > status.st_size:  # the file grows, or is in /proc
                data += file.read(limit + 1 - len(data))
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise Refusal(f"cannot read the {what} {path} ({reason}); give a readable file") from error
    if len(data) > limit:
        raise Refusal(f"cannot read the {what} {path} (longer than {limit} bytes); use a shorter file", Exit.WRONG_WORD)
    return data


def read_text(path: Path, what: str, limit: int = FILE_LIMIT) -> str:
    """Return the text of a user's file; `what` names its kind in the refusal: `network file`.

    Raises:
        Refusal: as `read_bytes`, or it is not UTF-8.
    """
    data = read_bytes(path, what, limit)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = f"cannot read the {what} {path} (byte {error.start} is not UTF-8)"
        advice = "give a text file in UTF-8, for example with iconv -t UTF-8"
        raise Refusal(f"{text}; {advice}", Exit.WRONG_WORD) from None


def exists(path: Path) -> bool:
    """Return whether a file of that name exists; pathlib raises if the name is too long to exist."""
    return os.path.exists(path)  # noqa: PTH110


def is_file(path: Path) -> bool:
    """Return whether a regular file, or a link to one, of that name exists; see `exists`."""
    return os.path.isfile(path)  # noqa: PTH113


def parse_toml(text: str, what: str) -> dict[str, Any]:
    """Return a TOML document; `what` names it in the refusal: `network file x.toml`.

    Raises:
        Refusal: it is not TOML, is nested deeper than `DEEPEST`, has more than `MAX_KEYS` or `MAX_VALUES`, or
            contains an integer of thousands of digits.
    """
    _check_keys(text, what)
    try:
        text.encode()  # raises for lone surrogates
        found = tomllib.loads(text)
    except RecursionError:
        raise _too_deep(what) from None
    except ValueError as error:
        raise Refusal(f"cannot read the {what} ({error}); correct the file", Exit.WRONG_WORD) from None
    _check_depth(found, what)
    return found


def _too_deep(what: str) -> Refusal:
    return Refusal(f"cannot read the {what} (nested deeper than {DEEPEST} levels); reduce the nesting", Exit.WRONG_WORD)


def _check_keys(text: str, what: str) -> None:
    """Refuse keys for which `tomllib` takes gigabytes: its memory grows with the square of a key's parts."""
    keys, values = text.count("=") + text.count("["), max(text.count(","), text.count("."))
    run = long = 0
    for part in text.split(".") if values <= MAX_VALUES else ():
        run = run + 1 if _KEY_PART.fullmatch(part) else 0
        long += run > 3
        if run > DEEPEST:
            raise _too_deep(what)
    if keys > MAX_KEYS or values > MAX_VALUES or long > MAX_KEYS:
        raise Refusal(
            f"cannot read the {what} (more than {MAX_KEYS} keys and arrays or {MAX_VALUES} values, or nested deeper "
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
    """Mistake in a table: its keys, the reason, and the correction."""

    path: tuple[str, ...]
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"({'.'.join(self.path) or 'the document'}: {self.reason}); {self.hint}"


class MistakesError(ValueError):
    """A value that does not have the declared type; `mistakes` lists every mistake, at least one."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__("\n".join(map(str, mistakes)))
        self.mistakes = mistakes


class InputTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table of a file: immutable; an undeclared key is a mistake."""


class TaggedTable(InputTable, frozen=True, tag_field="kind"):
    """Table whose key `kind` selects one of several types."""

    @property
    def kind(self) -> str:
        """The name of its type in files."""
        return str(self.__struct_config__.tag)


class _ReadWith(ABC):
    """Base of what `read_with` returns."""

    read: Callable[[Any], object]
    given: Any


def read_with(read: Callable[[Any], object], kind: type, given: Any = None) -> Any:
    """Return a type for fields whose value `read` makes from the file's, or refuses with a ValueError: "why; hint".

    Type checkers must see `kind`, the type of the value, in its place:

        if TYPE_CHECKING:
            Need: TypeAlias = str
        else:
            Need = read_with(facts.check_need, str)

    Args:
        given: type of the argument of `read`, if it is not `kind`.
    """
    made: type[_ReadWith] = type(kind.__name__, (_ReadWith,), {"read": staticmethod(read), "given": given or kind})
    made.register(kind)
    return made


def convert(value: object, kind: type[_T]) -> _T:
    """Return a file's value as the declared type: an `InputTable`, or a tuple or mapping of tables.

    Raises:
        MistakesError: it does not have that type.
    """
    try:
        return msgspec.convert(value, kind, dec_hook=_read)
    except msgspec.ValidationError as error:
        found = _mistakes(value, kind, ())
        raise MistakesError(found or [Mistake((), str(error), "correct the file")]) from error


def _read(kind: type[_ReadWith], value: object) -> object:
    return kind.read(msgspec.convert(value, kind.given))


def _mistakes(value: object, kind: Any, path: tuple[str, ...]) -> list[Mistake]:
    """Return the mistakes inside a value or, if there are none, the mistake of the value itself."""
    options = _options(kind)
    tables = [one for one in options if isinstance(one, type) and issubclass(one, msgspec.Struct)]
    if tables and isinstance(value, Mapping):
        found = _in_table(value, tables, path)
    else:
        inner = (_mistakes(item, declared, (*path, key)) for key, item, declared in _items(value, options))
        found = [mistake for mistakes in inner for mistake in mistakes]
    if found:
        return found
    try:
        msgspec.convert(value, kind, dec_hook=_read)
    except msgspec.ValidationError as error:
        words = [word for one in options if get_origin(one) is Literal for word in get_args(one)]
        if isinstance(error.__cause__, MistakesError):  # a table read by `read_with`
            return [Mistake((*path, *one.path), one.reason, one.hint) for one in error.__cause__.mistakes]
        return [_no_such_word(value, words, path) if words else _mistake(error, value, path)]
    return []


def _options(kind: Any) -> list[Any]:
    """Return the types of a union, without constraints."""
    if get_origin(kind) is Annotated:
        return _options(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [one for part in get_args(kind) for one in _options(part)]
    return [kind]


def _in_table(value: Mapping[str, object], tables: Sequence[Any], path: tuple[str, ...]) -> list[Mistake]:
    """Return the mistakes in a table of one type, or of the type that its tag names."""
    by_tag = {one.__struct_config__.tag: one for one in tables}
    table, tag_field = tables[0], tables[0].__struct_config__.tag_field
    if len(tables) > 1 and tag_field not in value:
        return [Mistake((*path, tag_field), "this key is missing", "add it")]
    if tag_field in value:
        tag = value[tag_field]
        if not isinstance(tag, str) or tag not in by_tag:
            return [_no_such_word(tag, list(by_tag), (*path, tag_field))]
        table = by_tag[tag]
    fields = msgspec.structs.fields(table)
    known = [tag_field] * bool(tag_field) + [one.name for one in fields]
    spare = [key for key in value if key not in known]
    found = [Mistake((*path, key), "unknown key", suggestion(key, known)) for key in spare]
    for field in fields:
        if field.name in value:
            found += _mistakes(value[field.name], field.type, (*path, field.name))
        elif field.required:
            found.append(Mistake((*path, field.name), "this key is missing", "add it"))
    return found


def _items(value: object, options: Sequence[Any]) -> Iterator[tuple[str, object, Any]]:
    """Yield the keys and items of a mapping or array with their declared types."""
    for one in options:
        origin, kinds = get_origin(one), get_args(one)
        if origin in (dict, Mapping) and isinstance(value, Mapping):
            for key, item in value.items():
                yield from ((key, key, kinds[0]), (key, item, kinds[1]))
        elif origin is tuple and isinstance(value, list | tuple):
            declared = repeat(kinds[0]) if kinds[-1] is ... else kinds
            yield from ((str(n), item, kind) for n, (item, kind) in enumerate(zip(value, declared, strict=False)))


def _no_such_word(given: object, words: Sequence[str], path: tuple[str, ...]) -> Mistake:
    word = given if isinstance(given, str) else _shown(given)
    return Mistake(path, f"unknown value {word[:_SHOWN]!r}", suggestion(word, words))


def _mistake(error: msgspec.ValidationError, value: Any, path: tuple[str, ...]) -> Mistake:
    """Return the error of msgspec in the terms of TOML with the value, or the error of our own check."""
    if error.__cause__ is not None:
        reason, _, hint = str(error.__cause__)[:300].partition("; ")
        return Mistake(path, reason, hint or "correct the value")
    wanted, _, given = _TYPE.sub(_named, str(error)).replace("\\\\", "\\").partition(", got ")
    if " of length " in wanted:
        given = str(len(value))
    elif not given or isinstance(value, str | int | float):
        given = _shown(value)
    return Mistake(path, f"{wanted[0].lower()}{wanted[1:]}, got {given}", "correct the value")


def _named(found: re.Match[str]) -> str:
    return " or ".join(_NAMES.get(one, one) for one in found[1].split(" | ") if one != "null")


def _shown(value: object) -> str:
    try:
        text = str(value).lower() if isinstance(value, bool) else repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a longer value"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def line_of(text: str, path: Sequence[str]) -> int | None:
    """Return the first line of the deepest part of the path in the text; the n-th of `[[tables]]` is `tables`, `n`.

    `None` if the first part of the path is not in the text.
    """
    best, depth = None, 0
    counts: dict[tuple[str, ...], int] = {}
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        header, assignment = _HEADER.match(line), _ASSIGNMENT.match(line)
        if header:
            table = _within(_keys(header[2]), counts)
            if header[1] == "[[":
                name = tuple(table)
                counts[name] = counts.get(name, -1) + 1
                table.append(str(counts[name]))
            here = table
        elif assignment:
            here = [*table, *_keys(assignment[1])]
        else:
            continue
        common = next(
            (n for n, (a, b) in enumerate(zip(here, path, strict=False)) if a != b), min(len(here), len(path))
        )
        if common > depth:
            best, depth = number, common
    return best


def _keys(text: str) -> list[str]:
    return [key.strip("\"'") for key in _KEY_NAME.findall(text)]


def _within(keys: Sequence[str], counts: dict[tuple[str, ...], int]) -> list[str]:
    """Return the path of a header, with the number of the current table of each list of tables on the way."""
    found: list[str] = []
    for last, key in zip([*[False] * (len(keys) - 1), True], keys, strict=True):
        found.append(key)
        if not last and tuple(found) in counts:
            found.append(str(counts[tuple(found)]))
    return found
