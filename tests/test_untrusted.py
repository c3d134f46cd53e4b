"""Input of others: bounded, and refused with the next step."""

import math
import os
import resource
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import pytest
from msgspec import Meta

from octant.failure import Refusal, suggestion
from octant.untrusted import (
    InputTable,
    MistakesError,
    TaggedTable,
    convert,
    exists,
    is_file,
    parse_toml,
    read_text,
    read_with,
)


def test_text_comes_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("é" * 8, encoding="utf-8")
    assert read_text(path, "map file", limit=16) == "é" * 8
    with pytest.raises(Refusal, match="longer than 15 bytes"):
        read_text(path, "map file", limit=15)


def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin").write_bytes(b"ab\xe9")
    for path, why in (
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path, "Is a directory"),
        (tmp_path / "none", "No such file"),
        (tmp_path / "z\0", "null byte"),
        (tmp_path / "latin", r"byte 2 is not UTF-8\); give a text file in UTF-8, for example with iconv"),
    ):
        with pytest.raises(Refusal, match=f"cannot read the map file .*{why}"):
            read_text(path, "map file")


@pytest.mark.parametrize("depth", [65, 5_000, 200_000])
def test_nesting_has_a_bound(depth: int) -> None:
    assert parse_toml("x=" + "[" * 63 + "]" * 63, "study")
    with pytest.raises(Refusal, match="nested deeper"):
        parse_toml("x=" + "[" * depth + "]" * depth, "study")
    with pytest.raises(Refusal, match="nested deeper"):
        parse_toml(f"[{'a.' * min(depth, 5_000)}a]", "study")


def test_long_numbers_and_surrogates_are_refused() -> None:
    with pytest.raises(Refusal, match="cannot read the study"):
        parse_toml("x = " + "1" * 5_000, "study")
    with pytest.raises(Refusal, match=r"cannot read the study .*surrogates not allowed"):
        parse_toml('x = "\udcff"', "study")


def test_a_near_word_is_suggested_and_a_short_list_printed() -> None:
    assert suggestion("traid", ["copy", "triad"]) == "did you mean triad?"
    assert suggestion("zzz", ["copy", "triad"]) == "try one of copy, triad"
    many = [f"name{i}" for i in range(20)]
    assert suggestion("zzz", many, "octant workloads") == "`octant workloads` lists them"
    assert suggestion("zzz", many).endswith("name11, …")


def even(text: str) -> int:
    if int(text) % 2:
        raise ValueError(f"{text} is odd; try {int(text) + 1}")
    return int(text)


class Range(InputTable, frozen=True):
    low: float


if TYPE_CHECKING:
    Even: TypeAlias = int
    Low: TypeAlias = Range
else:
    Even = read_with(even, int, str)
    Low = read_with(lambda given: convert(given if isinstance(given, dict) else {"low": given}, Range), Range, Any)


class Leaf(TaggedTable, tag="ratio", frozen=True):
    bar: float = 0
    low: Low | None = None


class Order(TaggedTable, tag="order", frozen=True):
    places: Annotated[tuple[str, ...], Meta(min_length=2)]


class Root(InputTable, frozen=True, kw_only=True):
    title: Annotated[str, Meta(max_length=5)]
    tests: tuple[Leaf | Order, ...] = ()
    named: Mapping[Annotated[str, Meta(pattern=r"^[a-z]+\Z")], Order] = {}
    mode: Literal["one", "all"] | None = None
    number: Annotated[int, Meta(ge=1, le=9)] | bool = 1
    pair: tuple[int, float] = (0, 0)
    even: tuple[Even, ...] = ()

    def __post_init__(self) -> None:
        if self.mode == self.title:
            raise ValueError("the title is the mode; choose another")


GOOD = {
    "title": "a",
    "tests": [{"kind": "ratio", "bar": 2, "low": 1}, {"kind": "order", "places": ["x", "y"]}],
    "named": {"x": {"places": ("x", "y")}},
    "mode": "one",
    "number": True,
    "pair": [1, 2],
    "even": ["2", "4"],
}


def test_a_table_becomes_its_declared_type() -> None:
    root = convert(GOOD, Root)
    assert root.tests == (Leaf(2.0, Range(1.0)), Order(("x", "y")))
    assert (root.named, root.pair, root.even) == ({"x": Order(("x", "y"))}, (1, 2.0), (2, 4))
    assert [one.kind for one in root.tests] == ["ratio", "order"]
    assert convert(root, Root) is root
    with pytest.raises(AttributeError):
        root.title = "b"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"mdoe": "one"}, "(mdoe: unknown key); did you mean mode?"),
        ({"mode": "al"}, "(mode: unknown value 'al'); did you mean all?"),
        ({"mode": 7}, "(mode: unknown value '7'); try one of one, all"),
        ({"mode": []}, "(mode: unknown value '[]'); try one of one, all"),
        ({"title": 5}, "(title: expected string, got 5); correct the value"),
        ({"title": "abcdef"}, "(title: expected string of length <= 5, got 6); correct the value"),
        ({"title": "one"}, "(the document: the title is the mode); choose another"),
        ({"number": 0}, "(number: expected integer >= 1, got 0); correct the value"),
        ({"number": 10**400}, f"(number: expected integer <= 9, got 1{'0' * 59}…); correct the value"),
        ({"number": 16**5000}, "(number: expected integer <= 9, got a longer value); correct the value"),
        ({"number": "1"}, "(number: expected boolean or integer, got '1'); correct the value"),
        ({"number": 1.0}, "(number: expected boolean or integer, got 1.0); correct the value"),
        ({"pair": [1]}, "(pair: expected array of length 2, got 1); correct the value"),
        ({"pair": [True, 1]}, "(pair.0: expected integer, got true); correct the value"),
        ({"pair": [1, math.nan, "x"]}, "(pair: expected array of length 2, got 3); correct the value"),
        ({"pair": "1, 2"}, "(pair: expected array, got '1, 2'); correct the value"),
        ({"tests": [{"kind": "rato"}]}, "(tests.0.kind: unknown value 'rato'); did you mean ratio?"),
        ({"tests": [{"kind": ["ratio"]}]}, "(tests.0.kind: unknown value \"['ratio']\"); did you mean ratio?"),
        ({"tests": [{}]}, "(tests.0.kind: this key is missing); add it"),
        ({"tests": ["ratio"]}, "(tests.0: expected table, got 'ratio'); correct the value"),
        ({"tests": {"kind": "ratio"}}, "(tests: expected array, got table); correct the value"),
        ({"tests": [{"kind": "ratio", "br": 1}]}, "(tests.0.br: unknown key); did you mean bar?"),
        ({"tests": [{"kind": "order"}]}, "(tests.0.places: this key is missing); add it"),
        ({"tests": [{"kind": "order", "places": ["x", 1]}]},
         "(tests.0.places.1: expected string, got 1); correct the value"),
        ({"tests": [{"kind": "order", "places": ["x"]}]},
         "(tests.0.places: expected array of length >= 2, got 1); correct the value"),
        ({"tests": [{"kind": "ratio", "low": "x"}]}, "(tests.0.low.low: expected number, got 'x'); correct the value"),
        ({"tests": [{"kind": "ratio", "low": {"lo": 1, "low": 1}}]},
         "(tests.0.low.lo: unknown key); did you mean low?"),
        ({"named": {"x": {"kind": 7, "places": ["x", "y"]}}}, "(named.x.kind: unknown value '7'); try one of order"),
        ({"named": {"X": {"places": ["x", "y"]}}},
         "(named.X: expected string matching regex '^[a-z]+\\Z', got 'X'); correct the value"),
        ({"named": {"x\n": {"places": ["x", "y"]}}},
         "(named.x\n: expected string matching regex '^[a-z]+\\Z', got 'x\\n'); correct the value"),
        ({"even": ["2", "3"]}, "(even.1: 3 is odd); try 4"),
        ({"even": [2]}, "(even.0: expected string, got 2); correct the value"),
        ({"even": ["x"]}, "(even.0: invalid literal for int() with base 10: 'x'); correct the value"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_table_is_named_with_its_keys_and_its_correction(change: dict[str, Any], said: str) -> None:
    with pytest.raises(MistakesError) as refused:
        convert({**GOOD, **change}, Root)
    assert list(map(str, refused.value.mistakes)) == [said]


def test_every_mistake_of_a_table_is_listed() -> None:
    with pytest.raises(MistakesError) as refused:
        convert({"ttle": "a", "number": 0, "tests": [{"kind": "ratio", "bar": "x"}, 3], "even": ["1", "3"]}, Root)
    assert ["/".join(one.path) for one in refused.value.mistakes] == [
        "ttle", "title", "tests/0/bar", "tests/1", "number", "even/0", "even/1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "a." * 2**18 + "a = 1",
        "[" + "a." * 2**18 + "a]",
        '"a".' * 2**18 + "a = 1",
        "b = {" + "a . " * 2**16 + "a = 1}",
        "".join(f"b{i}.{'a.' * 60}a = 1\n" for i in range(2**12)),
        "".join(f"a{i} = []\n" for i in range(60_000)),
        "a = [" + "1," * 600_000 + "]",
        "." * 2**24,
    ],
)
def test_what_a_reader_of_toml_takes_gigabytes_for_is_refused(text: str) -> None:
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(Refusal, match="nested deeper"):
        parse_toml(text, "study")
    assert time.process_time() - begun < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 256 * 1024


def test_long_texts_in_toml_are_read() -> None:
    edges = "n1.site.org s1.site.org\n" * 20_000
    note = "It is so. " * 60
    assert parse_toml(f"edges = '''\n{edges}'''\nnote = \"{note}\"\nx = 1.5", "network file")["edges"] == edges


def test_a_name_too_long_is_that_of_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    assert is_file(tmp_path / "a")
    assert exists(tmp_path)
    assert not is_file(tmp_path)
    for name in ("b", "x" * 300, "x/" * 5_000, "a\0b"):
        assert not exists(tmp_path / name)
        assert not is_file(tmp_path / name)
