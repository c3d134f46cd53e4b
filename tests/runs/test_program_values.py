"""Numbers are found in what a program printed; what is no number or is missing is explained, and nothing hangs."""

import json
import math
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant.program import ProgramValue
from octant.runs.programs import values
from octant.runs.programs.grammar import implied_value
from octant.runs.programs.values import MissingValueError, Sources, parse_number, read_value


def sources(folder: Path, stdout: str | bytes = "", stderr: str = "", **more: object) -> Sources:
    outputs = {"stdout": folder / "captured.out", "stderr": folder / "captured.err"}
    outputs["stdout"].write_bytes(stdout if isinstance(stdout, bytes) else stdout.encode())
    outputs["stderr"].write_text(stderr)
    return Sources(outputs, folder, **more)  # type: ignore[arg-type]


def refused(value: ProgramValue, where: Sources) -> str:
    with pytest.raises(MissingValueError) as caught:
        read_value(value, where)
    return str(caught.value)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from("eEdDqQ"))
def test_a_number_reads_the_same_in_c_and_in_fortran(number: float, letter: str) -> None:
    assert parse_number(f" {number!r} ".replace("e", letter)) == number


@given(st.integers(100, 299), st.sampled_from("+-"))
def test_an_exponent_of_three_digits_may_lack_its_letter(exponent: int, sign: str) -> None:
    assert parse_number(f"0.25{sign}{exponent}") == float(f"0.25e{sign}{exponent}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1,234.5", "comma"), ("1,5", "comma"), ("nan", "finite"), ("-inf", "finite"), ("NaN(0x1)", "finite"),
        ("Infinity", "finite"), ("1e999", "range"), ("*****", "asterisks"), ("12.5 GB/s", "'12.5'"),
        ("", "first group"), ("abc", "first group"), ("1_000", "'1'"), ("0x10", "'0'"), ("١٢", "first group"),
    ],
)  # fmt: skip
def test_what_is_no_finite_number_is_no_value(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        parse_number(text)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9), st.booleans())
def test_the_last_match_counts_and_its_first_group(numbers: list[float], group: bool) -> None:
    text = "".join(f"step {n}\nrate = {number!r} Mop/s\n" for n, number in enumerate(numbers))
    pattern = r"^rate = (\S+) (\S+)$" if group else r"(?<=rate = )\S+"
    found = values._last_match(ProgramValue("rate", pattern=pattern), text, Sources({}, Path()))
    assert parse_number(found) == numbers[-1]


def test_values_are_in_stdout_in_stderr_and_in_files_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/log.txt").write_text("energy 3\n")
    where = sources(tmp_path, "energy 1\n", "energy 2\n")
    read = [
        read_value(ProgramValue("energy", source=source, pattern=r"energy (\d)"), where)
        for source in ("stdout", "stderr", "out/log.txt")
    ]
    assert read == [1, 2, 3]


def test_bytes_that_are_no_text_hide_no_number(tmp_path: Path) -> None:
    where = sources(tmp_path, b"\xff\xfe\x00 rate = 7\n\x80")
    assert read_value(ProgramValue("rate", pattern=r"rate = (\d+)"), where) == 7


def test_of_a_large_file_the_beginning_and_the_end_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MAX_BYTES", 100)
    where = sources(tmp_path)
    (tmp_path / "log").write_text("first 1\n" + "middle 2\n" * 50 + "last 3\n")
    assert read_value(ProgramValue("x", source="log", pattern=r"first (\d)"), where) == 1
    assert read_value(ProgramValue("x", source="log", pattern=r"last (\d)"), where) == 3
    assert "larger than" in refused(ProgramValue("x", source="log", path="a"), where)


def test_an_exponential_expression_ends_with_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "SEARCH_S", 0.2)
    where = sources(tmp_path, "a" * 60 + "b")
    text = refused(ProgramValue("x", pattern="(a|aa)+$"), where)
    assert "(a|aa)+$" in text
    assert "took more than 0.2 s" in text
    assert "nested repetitions" in text


@pytest.mark.parametrize(
    ("stdout", "stderr", "parts"),
    [
        ("", "", ["stdout, which is empty", "let the program print"]),
        ("Mop/s Total = 12\nbye\n", "", ["similar line is 'Mop/s Total = 12'", "try '(?i)Mop/s total"]),
        ("bye\n", "Mop/s total = 12\n", ["the expression matches in stderr", "rate[Mop/s,higher,stderr]=Mop/s total"]),
        ("Hello\nMop/s total is 12\nbye\n", "", ["similar line is 'Mop/s total is 12'", "change the regular"]),
        ("12345\n", "", ["matches nothing in stdout; change"]),
    ],
)
def test_no_match_names_the_nearest_line_and_a_next_step(
    tmp_path: Path, stdout: str, stderr: str, parts: list[str]
) -> None:
    value = ProgramValue("rate", "Mop/s", pattern="Mop/s total *= *([0-9.]+)")
    text = refused(value, sources(tmp_path, stdout, stderr))
    assert [part for part in parts if part not in text] == [], text


def test_a_match_that_is_no_number_is_quoted(tmp_path: Path) -> None:
    where = sources(tmp_path, "rate = 1,234.5\n")
    text = refused(ProgramValue("rate", pattern=r"rate = (\S+)"), where)
    assert text.startswith("'1,234.5' in stdout is not a number (it contains a comma)")


_NAMES = st.text(st.characters(codec="ascii", min_codepoint=32), min_size=1, max_size=6)
_LEAVES = st.floats(-1e12, 1e12) | st.integers(-(10**12), 10**12)
_TREES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(_NAMES, inner, min_size=1, max_size=3),
)


def leaves(tree: object, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], float]]:
    if isinstance(tree, dict):
        return [leaf for name, inner in tree.items() for leaf in leaves(inner, (*path, name))]
    if isinstance(tree, list):
        both = [*enumerate(tree), *((n - len(tree), inner) for n, inner in enumerate(tree))]
        return [leaf for n, inner in both for leaf in leaves(inner, (*path, str(n)))]
    assert isinstance(tree, float | int)
    return [(path, tree)]


@given(_TREES.filter(lambda tree: isinstance(tree, dict | list)))
def test_every_number_of_a_json_document_has_a_path(tree: object) -> None:
    for path, number in leaves(tree):
        if not any("." in part for part in path):
            assert values._walk(json.loads(json.dumps(tree)), ".".join(path)) == number


def test_a_line_of_the_output_may_be_the_document(tmp_path: Path) -> None:
    where = sources(tmp_path, 'reading {input}\n{"a": 1}\n{"solver": [{"x.y": 1.5}, {"x.y": "2D0"}]}\ndone\n')
    assert read_value(ProgramValue("x", path="solver.0.x.y"), where) == 1.5
    assert read_value(ProgramValue("x", path="solver.-1.x.y"), where) == 2


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ('{"a": {"b": 1, "c": 2}}', "a.d", "the document has no a.d (a contains b, c)"),
        ('{"a": [1]}', "a.1", "the document has no a.1 (a is an array of 1 element; indices start at 0)"),
        ('{"a": 1}', "a.b", "the document has no a.b (a is 1)"),
        ('{"a": true}', "a", "a in stdout is a Boolean, not a number"),
        ('{"a": {}}', "a", "a in stdout is an object, not a number"),
        ('{"a": NaN}', "a", "'nan' in stdout is not a finite number"),
        ("no json", "a", "stdout contains no JSON document"),
        ("[" * 100_000, "0", "stdout contains no JSON document"),
    ],
)
def test_a_path_that_leads_nowhere_says_how_far_it_goes(tmp_path: Path, text: str, path: str, why: str) -> None:
    assert why in refused(ProgramValue("x", path=path), sources(tmp_path, text))


def test_a_file_of_an_earlier_launch_is_no_result_of_this_one(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("x = 1\n")
    os.utime(tmp_path / "log", (1000.0, 1000.0))
    value = ProgramValue("x", source="log", pattern="x = (.*)")
    assert read_value(value, sources(tmp_path, begun_s=1001.0)) == 1
    assert "was not written by this launch" in refused(value, sources(tmp_path, begun_s=1010.0))


def test_a_missing_file_and_a_pipe_are_named_and_do_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    where = sources(tmp_path)
    assert "log does not exist" in refused(ProgramValue("x", source="log", pattern="x"), where)
    assert "not a regular file" in refused(ProgramValue("x", source="pipe", pattern="x"), where)
    assert "tmp" not in refused(ProgramValue("x", source=".", pattern="x"), where)


@pytest.mark.parametrize(
    "line", ["residual = 1.5", "residual: 1.5", "residual 1.5", "  residual=1.5, ok", "residual\t1.5"]
)
def test_a_check_finds_its_value_without_an_expression(tmp_path: Path, line: str) -> None:
    where = sources(tmp_path, f"max_residual = 9\nresidual = 7\n{line}\n")
    assert read_value(implied_value("residual"), where) == 1.5
    assert not math.isnan(read_value(implied_value("max_residual"), where))
