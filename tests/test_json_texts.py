"""Texts that the harness writes as JSON, and the reader of its native tests, against Python's json module."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from hypothesis import given, settings
from hypothesis import strategies as st

_TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS
)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_TEXTS, inner, max_size=5), max_leaves=20
)
_FRAGMENTS = st.sampled_from(
    ["[", "]", "{", "}", ",", ":", '"', '"a"', "\\", "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "0", "-1", "1.5", "1e3",
     ".", "E+2", "true", "null", "NaN", " ", "\t", "é", "\x01"]
)  # fmt: skip

# Where characters of one, two, three and four bytes begin and end, quotes and control characters.
_BYTES = st.lists(
    st.sampled_from(b'A"\\\x00\x1f\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc2\xdf\xe0\xed\xef\xf0\xf4\xf5\xff'), max_size=6
).map(bytes)


def _answers(kernels: Path, mode: str, lines: Iterable[str]) -> list[str]:
    program = kernels.parent / "native/tests/test_json"
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run([program, mode], input=text.encode(), capture_output=True, check=True)
    return done.stdout.decode().split("\n")[:-1]


@settings(max_examples=60)
@given(st.lists(st.tuples(_VALUES, st.booleans(), st.booleans()), min_size=20, max_size=60))
def test_the_reader_reads_what_python_writes(kernels: Path, written: list[tuple[Any, bool, bool]]) -> None:
    lines = [
        json.dumps(value, ensure_ascii=ascii_only, separators=(", ", " : ") if spaces else (",", ":"))
        for value, ascii_only, spaces in written
    ]
    answers = _answers(kernels, "read", lines)
    assert [json.loads(answer) for answer in answers] == [value for value, _, _ in written]


@settings(max_examples=60)
@given(st.lists(st.lists(_FRAGMENTS, max_size=8).map("".join), min_size=40, max_size=80))
def test_the_reader_refuses_what_python_refuses(kernels: Path, lines: list[str]) -> None:
    answers = _answers(kernels, "read", lines)
    refused = ["refused" if _python(line) is _REFUSED else "read" for line in lines]
    assert ["refused" if answer == "refused" else "read" for answer in answers] == refused, lines


_REFUSED = object()


def _python(line: str) -> object:
    """Return the value that Python reads in strict mode."""

    def no_constant(text: str) -> NoReturn:
        raise ValueError(text)

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError(pairs)
        return dict(pairs)

    try:
        found = json.loads(line, parse_constant=no_constant, object_pairs_hook=distinct)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return _REFUSED
    return found


@settings(max_examples=60)
@given(st.lists(_BYTES | _TEXTS.map(str.encode), min_size=40, max_size=80))
def test_the_harness_writes_any_bytes_as_a_text(kernels: Path, texts: list[bytes]) -> None:
    answers = _answers(kernels, "quote", [text.hex() for text in texts])
    assert [json.loads(answer) for answer in answers] == [text.decode(errors="replace") for text in texts]
