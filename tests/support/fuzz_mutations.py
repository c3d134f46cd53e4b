"""Changes to inputs: of bytes and lines, and of the values inside JSON, TOML and XML."""

import copy
import functools
import json
import math
import random
import re
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Sequence
from typing import Any

FORMATS = ("text", "json", "toml", "xml")
"""JSON is one document, or one per line."""
LONGEST = 1 << 16
"""Bytes of most inputs; one in some hundreds is as long as `_LONG`."""
_LONG = 1 << 20
LEAST_GROWN = 1 << 10
LONG_LINE = 3500
GROWN_SHARE = 0.03
"""Of all inputs that are as long as their reader allows, or up to a thousand times shorter."""

NUMBERS: tuple[int | float, ...] = (
    0, 1, -1, 2, 3, 255, 1000, 46341, 65536, 2**20, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63),
    10**9 + 7, 10**22, 10**400, 10**4000, 0.5, -0.0, 1e-320, 1e9, 1e18, 1e308, math.inf, -math.inf, math.nan,
)  # fmt: skip
TEXTS = (
    "", " ", "\n", "\0", "\x1b[31m", "é", "²", "٣", "①", "\U0010ffff", "\udcff", "nan", "inf", "-1", "1e309", "0x",
    "0xg",
    "=1+1", "%s%n", "{}", "{0.__class__}", "{fill:>1000000000}", "..", "../..", "/", "/dev/zero", "/etc/passwd", ".",
    ",".join(map(str, range(50))), "9" * 5000, "f" * 200_000,
    "0-65535", "0-65536", "0-99999999999", "1" * 19, "1" * 20, "1GiB", "1e6", "999999TiB",
)  # fmt: skip
_PIECES = (*"\"'`[]{}()<>&;:,.=|\\/*+-#@!?~^%$ \t\r\n\0", "<!DOCTYPE x>", "]]>", "--", "${HOME}", "\ufeff", "\u2028")
_DEEP = "\ue000"
"""Represents `_ARRAYS`, arrays that are nested deeper than Python accepts."""
_ARRAYS = "[" * 20_000 + "]" * 20_000
_NUMBER = re.compile(rb"\d+")
_WORD = re.compile(rb"[\w.+-]+")


def mutate(data: bytes, pool: Sequence[bytes], form: str, rng: random.Random, most_bytes: int = _LONG) -> bytes:
    """An input with one to four changes; `pool` gives pieces of others.

    Args:
        most_bytes: what the reader of these inputs accepts.
    """
    if rng.random() < GROWN_SHARE:
        if rng.random() < 0.5:  # lines that are long, and many of them
            data = _grow(data, len(data) + LONG_LINE, rng)
        return _grow(data, most_bytes, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        changed = _inside(data, form, rng) if rng.random() < 0.6 else None
        data = _plain(data, pool, rng) if changed is None else changed
    return data[: _LONG if rng.random() < 0.005 else LONGEST]


def _grow(data: bytes, most_bytes: int, rng: random.Random) -> bytes:
    """The input with one part of it repeated many times: lines, words, characters, or elements of a list.

    Time that grows faster than the input, and limits that are too high, show in such inputs alone.
    """
    size = round(LEAST_GROWN * (most_bytes / LEAST_GROWN) ** rng.random()) - len(data)
    begin, end, between = rng.choice((_lines_of, _lines_of, _word_of, _element_of, _character_of))(data, rng)
    part = data[begin:end] + between
    if not part or size <= 0:
        return data
    number = _NUMBER.search(part)
    if number and rng.random() < 0.5:  # each copy differs from the others
        head, tail = part[: number.start()], part[number.end() :]
        copies = b"".join(b"%b%d%b" % (head, i, tail) for i in range(size // (len(part) + 6)))
    else:
        copies = part * (size // len(part))
    return data[:begin] + copies + data[begin:]


def _lines_of(data: bytes, rng: random.Random) -> tuple[int, int, bytes]:
    """Begin and end of one to three lines, and the separator between copies of them."""
    starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    first = rng.randrange(len(starts))
    ends = [*starts[1:], len(data)][first : first + rng.choice((1, 1, 2, 3))]
    return starts[first], ends[-1], b"" if data[starts[first] : ends[-1]].endswith(b"\n") else b"\n"


def _word_of(data: bytes, rng: random.Random) -> tuple[int, int, bytes]:
    found = rng.choice(list(_WORD.finditer(data)) or [None])
    return (found.start(), found.end(), rng.choice((b" ", b",", b".", b"\n", b""))) if found else (0, 0, b" ")


def _element_of(data: bytes, rng: random.Random) -> tuple[int, int, bytes]:
    """The last element of some list of JSON or TOML, or one of a table."""
    found = rng.choice(list(re.finditer(rb"(?:\{[^{}]*\}|[^][{},\n]+)(?=[\]}])", data)) or [None])
    return (found.start(), found.end(), b",") if found else (0, 0, b",")


def _character_of(data: bytes, rng: random.Random) -> tuple[int, int, bytes]:
    at = rng.randrange(len(data) + 1)
    return at, at + 1, b""


def _inside(data: bytes, form: str, rng: random.Random) -> bytes | None:
    """A change of a value; `None` where the input is not of its form, or changes have made it too deep for Python."""
    try:
        return _INSIDE[form](data, rng) if form in _INSIDE else None
    except RecursionError:
        return None


def _plain(data: bytes, pool: Sequence[bytes], rng: random.Random) -> bytes:
    return rng.choice(_PLAIN)(data, pool, rng)


def _range(data: bytes, rng: random.Random) -> tuple[int, int]:
    begin = rng.randint(0, len(data))
    return begin, min(len(data), begin + rng.choice((1, 1, 2, 4, 16, 64, 1024)))


def _replace_bytes(data: bytes, _pool: Sequence[bytes], rng: random.Random) -> bytes:
    begin, end = _range(data, rng)
    return data[:begin] + rng.randbytes(min(end - begin, 4)) + data[end:]


def _remove(data: bytes, _pool: Sequence[bytes], rng: random.Random) -> bytes:
    begin, end = _range(data, rng)
    return data[:begin] + data[end:]


def _repeat(data: bytes, _pool: Sequence[bytes], rng: random.Random) -> bytes:
    begin, end = _range(data, rng)
    times = min(rng.choice((2, 2, 3, 70, 5000, 200_000)), _LONG // max(1, end - begin))
    return data[:begin] + data[begin:end] * times + data[end:]


def _insert(data: bytes, _pool: Sequence[bytes], rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    piece = rng.choice(_PIECES) if rng.random() < 0.6 else rng.choice(TEXTS)
    return data[:at] + piece.encode("utf-8", "surrogateescape") + data[at:]


def _splice(data: bytes, pool: Sequence[bytes], rng: random.Random) -> bytes:
    other = rng.choice(pool)
    return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]


def _change_number(data: bytes, _pool: Sequence[bytes], rng: random.Random) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return data + b"0"
    match = rng.choice(found)
    return (
        data[: match.start()]
        + (str(_number(rng)) if rng.random() < 0.95 else "9" * 5000).encode()
        + data[match.end() :]
    )


def _change_word(data: bytes, pool: Sequence[bytes], rng: random.Random) -> bytes:
    found = list(_WORD.finditer(data))
    others = _words(rng.choice(pool))
    if not found or not others:
        return data
    match = rng.choice(found)
    return data[: match.start()] + rng.choice(others) + data[match.end() :]


@functools.lru_cache(maxsize=256)
def _words(data: bytes) -> list[bytes]:
    return _WORD.findall(data)


def _change_lines(data: bytes, pool: Sequence[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(to, lines[at])
        case 2:
            lines[at], lines[to] = lines[to], lines[at]
        case _:
            lines.insert(to, rng.choice(rng.choice(pool).split(b"\n")))
    return b"\n".join(lines)


_PLAIN: tuple[Callable[[bytes, Sequence[bytes], random.Random], bytes], ...] = (
    _replace_bytes, _remove, _repeat, _insert, _splice, _change_number, _change_number, _change_word, _change_word,
    _change_lines, _change_lines,
)  # fmt: skip


def _number(rng: random.Random) -> int | float:
    return rng.choice(NUMBERS) if rng.random() < 0.7 else rng.randint(0, 300)


def _value(rng: random.Random) -> Any:
    """Anything: a number, a text, a container, a deep one."""
    match rng.randrange(8):
        case 0 | 1 | 2:
            return _number(rng)
        case 3 | 4:
            return rng.choice(TEXTS)
        case 5:
            return rng.choice((True, False, None, [], {}, [[]], {"": {}}, [None], [""], [0], {"a": 0}))
        case 6:
            deep: list[Any] = []
            for _ in range(rng.choice((2, 60, 70))):
                deep = [deep]
            return rng.choice((deep, _DEEP))
        case _:
            return [_number(rng)] * rng.choice((2, 65, 1000))


def _change_tree(root: Any, rng: random.Random) -> Any:
    """The same tree with one place changed."""
    places: list[tuple[Any, Any]] = []
    level = [root]
    while level:
        one = level.pop()
        keys: Iterable[Any] = one.keys() if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        places += [(one, key) for key in keys]
        level += [one[key] for key in keys]
    if not places:
        return _value(rng)
    owner, key = rng.choice(places)
    other_owner, other_key = rng.choice(places)
    match rng.randrange(8):
        case 0:
            del owner[key]
        case 1 | 2 | 3:
            owner[key] = _value(rng)
        case 4:
            owner[key] = copy.deepcopy(other_owner[other_key])
        case 5 if isinstance(owner, list):
            owner.insert(key, copy.deepcopy(owner[key]))
        case 6 if isinstance(owner, list):
            owner += [copy.deepcopy(owner[key])] * rng.choice((1, 64, 3000))
        case 5 | 6:
            owner[rng.choice((*TEXTS[:20], str(other_key)))] = owner.pop(key)
        case _:
            old = owner[key]
            owner[key] = _number(rng) if isinstance(old, int | float) else rng.choice(TEXTS)
    return root


@functools.lru_cache(maxsize=512)
def _parsed(form: str, data: bytes) -> Any:
    try:
        return tomllib.loads(data.decode()) if form == "toml" else json.loads(data)
    except (ValueError, RecursionError):
        return None


def _inside_json(data: bytes, rng: random.Random) -> bytes | None:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    whole = _parsed("json", data)
    tree = whole if whole is not None else _parsed("json", lines[at])
    if tree is None:
        return None
    text = _json(_change_tree(copy.deepcopy(tree), rng))
    if whole is not None:
        return text
    return b"\n".join([*lines[:at], text, *lines[at + 1 :]])


def _json(tree: Any) -> bytes:
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":")).replace(f'"{_DEEP}"', _ARRAYS)
    return text.encode("utf-8", "surrogateescape")


def _inside_toml(data: bytes, rng: random.Random) -> bytes | None:
    tree = _parsed("toml", data)
    if tree is None:
        return None
    changed = _change_tree(copy.deepcopy(tree), rng)
    if not isinstance(changed, dict):
        return None
    return "\n".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in changed.items()).encode("utf-8", "surrogateescape")


def _toml(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case bool():
            return "true" if value else "false"
        case str() if value == _DEEP:
            return _ARRAYS
        case int() | float():
            return str(value)
        case None:
            return '""'
    return '"' + "".join(c if c >= " " and c not in '"\\\x7f' else f"\\u{ord(c):04x}" for c in str(value)) + '"'


def _inside_xml(data: bytes, rng: random.Random) -> bytes | None:
    try:
        root = ET.fromstring(re.sub(rb"<!DOCTYPE[^>]*>", b"", data))  # noqa: S314 - ours
    except (ET.ParseError, LookupError, ValueError):
        return None
    parents = [(parent, child) for parent in root.iter() for child in parent]
    if not parents:
        return None
    parent, child = rng.choice(parents)
    key = rng.choice([*child.attrib, "type"])
    match rng.randrange(8):
        case 0:
            parent.remove(child)
        case 1:
            parent.insert(0, copy.deepcopy(child))
        case 2:
            parent.extend([child] * rng.choice((1, 10, 100)))
        case 3:
            child.append(copy.deepcopy(rng.choice(parents)[1]))
        case 4:
            for _ in range(rng.choice((70, 500))):  # nested
                parent = ET.SubElement(parent, child.tag, {"type": child.get("type", "")})
        case 5:
            child.attrib.pop(key, None)
        case 6:
            child.set(key, str(_number(rng)))
        case _:
            child.set(key, rng.choice((rng.choice(TEXTS), rng.choice(parents)[1].get(key, ""))))
    return ET.tostring(root, encoding="unicode").encode("utf-8", "surrogateescape")


_INSIDE = {"json": _inside_json, "toml": _inside_toml, "xml": _inside_xml}
