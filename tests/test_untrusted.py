"""Input of others: bounded, and refused with the next step."""

import os
import resource
import time
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from octant.failure import Refusal, suggestion
from octant.untrusted import exists, is_file, mistakes, parse_json, parse_toml, read_text


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
        (Path("/dev/zero"), "no plain file"),
        (tmp_path / "pipe", "no plain file"),
        (tmp_path, "Is a directory"),
        (tmp_path / "none", "No such file"),
        (tmp_path / "z\0", "null byte"),
        (tmp_path / "latin", "byte 2 is not UTF-8"),
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
    with pytest.raises(Refusal, match="nested deeper"):
        parse_json("[" * depth + "]" * depth, "record")


def test_long_numbers_and_constants_are_refused() -> None:
    with pytest.raises(Refusal, match="cannot read the study"):
        parse_toml("x = " + "1" * 5_000, "study")
    for text in ("NaN", "[Infinity]", '{"a": -Infinity}', "1" * 5_000, "{"):
        with pytest.raises(Refusal, match="cannot read the record"):
            parse_json(text, "record")


def test_a_near_word_is_suggested_and_a_short_list_printed() -> None:
    assert suggestion("traid", ["copy", "triad"]) == "did you mean triad?"
    assert suggestion("zzz", ["copy", "triad"]) == "try one of copy, triad"
    many = [f"name{i}" for i in range(20)]
    assert suggestion("zzz", many, "octant workloads") == "`octant workloads` lists them"
    assert suggestion("zzz", many).endswith("name11, …")


class Leaf(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["ratio", "order"]
    bar: float = 0


class Other(BaseModel):
    kind: Literal["knee"]


class Root(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str
    tests: tuple[Annotated[Leaf | Other, Field(discriminator="kind")], ...] = ()
    named: dict[str, Leaf] = {}
    mode: Literal["one", "all"] = "one"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "(title: this key is missing); add it"),
        ({"title": "", "mdoe": "one"}, "(mdoe: there is no such key); did you mean mode?"),
        ({"title": "", "mode": "al"}, "(mode: no such word 'al'); did you mean all?"),
        ({"title": "", "tests": [{"kind": "rato"}]}, "(tests.0.kind: no such word 'rato'); did you mean ratio?"),
        ({"title": "", "tests": [{}]}, "(tests.0.kind: this key is missing); add it"),
        (
            {"title": "", "tests": [{"kind": "order", "br": 1}]},
            "(tests.0.br: there is no such key); did you mean bar?",
        ),
        ({"title": "", "named": {"x": {"kind": 7}}}, "(named.x.kind: no such word '7'); try one of ratio, order"),
    ],
)
def test_a_table_that_a_model_refuses_is_told_in_our_words(table: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Root.model_validate(table)
    assert [str(mistake) for mistake in mistakes(refused.value, Root)] == [said]


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
