"""Sizes, times and numbers mean the same in Python and in kernels, whose test reads the same table."""

import json
import math
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octant import units
from paths import ROOT

READERS: dict[str, Callable[[str], float]] = {
    "bytes": units.parse_bytes,
    "seconds": units.parse_seconds,
    "real": units.parse_real,
    "whole": units.parse_whole,
}
TABLE = json.loads((ROOT / "tests/data/amounts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in TABLE.items() for text in texts])
def test_an_amount_is_read_as_the_table_says_or_refused(kind: str, text: str) -> None:
    expected = TABLE[kind][text]
    if expected is None:
        with pytest.raises(ValueError, match=r"cannot read .* as a .*; try "):
            READERS[kind](text)
    else:
        assert READERS[kind](text) == pytest.approx(expected, rel=1e-15, abs=0)


def test_what_is_refused_is_not_repeated_whole() -> None:
    with pytest.raises(ValueError, match="…' as a size") as refused:
        units.parse_bytes("9" * 10_000_000)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("first", "second", "texts"),
    [
        (0.001, 0.5, ("0.001", "0.5")),
        (1.6449340668, 1.6449341668, ("1.6449341", "1.6449342")),
        (1.0, math.nextafter(1.0, 2.0), ("1", "1.0000000000000002")),
        (2.0, 2.0, ("2", "2")),
        (math.nan, 1.0, ("nan", "1")),
    ],
)
def test_two_numbers_that_differ_have_texts_that_differ(first: float, second: float, texts: tuple[str, str]) -> None:
    assert units.differing_texts(first, second) == texts


_NUMBERS = st.from_regex(r"[0-9]{1,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{0,3})?", fullmatch=True)
_UNIT_WORDS = ["", "B", "K", "k", "Ki", "KiB", "kB", "MB", "TiB", "T", "s", "ms", "us", "µs", "min", "h", "iB", "m"]
_UNITS = st.sampled_from(_UNIT_WORDS)
_AMOUNTS = st.builds(
    lambda *parts: "".join(parts), st.sampled_from(["", "", "", "-", " "]), _NUMBERS, st.sampled_from(["", " "]), _UNITS
)
_ANYTHING = st.text(st.characters(blacklist_characters="\n\r", blacklist_categories=["Cs"]), max_size=30)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from(sorted(READERS)), _AMOUNTS | _ANYTHING), min_size=40, max_size=80))
def test_kernels_read_every_amount_as_python_does(kernels: Path, asked: list[tuple[str, str]]) -> None:
    _check_amounts(kernels, asked)


def test_kernels_read_every_unit_as_python_does(kernels: Path) -> None:
    """Each unit after numbers of each form: 1,872 amounts in one process."""
    numbers = ["0", "1", "7.5", ".5", "5.", "1e3", "1E-3", "1e", "9" * 20, "0.1" + "0" * 17 + "1", "-1", "1e400", "nan"]
    asked = [
        (kind, f"{number}{space}{unit}")
        for kind in READERS for number in numbers for space in ("", " ") for unit in _UNIT_WORDS
    ]  # fmt: skip
    _check_amounts(kernels, asked)


def _check_amounts(kernels: Path, asked: list[tuple[str, str]]) -> None:
    program = kernels.parent / "native/tests/test_amounts"
    lines = "".join(f"{kind} {text}\n" for kind, text in asked)
    done = subprocess.run(
        [program, "--values"], input=lines, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    answers = done.stdout.splitlines()
    assert answers == [_value(kind, text) for kind, text in asked], asked


def _value(kind: str, text: str) -> str:
    try:
        found = READERS[kind](text)
    except ValueError:
        return "refused"
    return str(found) if kind in ("bytes", "whole") else f"{found:.17g}"


def test_units_in_the_last_place_have_no_prefix() -> None:
    assert units.si_text(0.5008, "ulp") == "0.501 ulp"
    assert units.si_text(2048.1, "ulp") == "2048 ulp"


@pytest.mark.parametrize("unit", ["Mop/s", "Gflop/s", "GFLOPS", "ns/day", "ms", "MiB", "kB/s", "Mcells/s", "%"])
def test_a_unit_with_a_prefix_of_its_own_gets_no_other(unit: str) -> None:
    assert units.si_text(0.351, unit) == f"0.351 {unit}"
    assert units.si_text(12345.6, unit) == f"12346 {unit}"


@pytest.mark.parametrize("unit", ["s", "B", "B/s", "flop/s", "op/s", "update/s", "message/s", "Hz", "J", "misses"])
def test_other_units_get_one(unit: str) -> None:
    assert units.si_text(12345.6, unit) == f"12.3 k{unit}"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (48, "48 s"), (179, "179 s"), (504, "8.4 min"), (1500, "25 min"), (4800, "1 h 20 min")],
)
def test_a_time_that_somebody_waits(seconds: float, text: str) -> None:
    assert units.duration_text(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1,023 B"), (1024, "1,024 B (1 KiB)"), (720941203456, "720,941,203,456 B (671.4 GiB)")],
)
def test_a_number_of_bytes_is_followed_by_its_binary_unit(size: int, text: str) -> None:
    assert units.counted_bytes_text(size) == text


_ANY = st.floats() | st.sampled_from([0.0, 5e-324, 2.36541e-310, 1e-13, 999_999.5, 1e15, 1.797e308, -1e300])
TEXTS: dict[str, Callable[[float], str]] = {
    "bytes_text": units.bytes_text,
    "si_text of seconds": lambda value: units.si_text(value, "s"),
    "si_text of a unit with a prefix": lambda value: units.si_text(value, "Mop/s"),
    "si_text of %": lambda value: units.si_text(value, "%"),
    "si_text of a number": lambda value: units.si_text(value, "1"),
    "si_text of four digits": lambda value: units.si_text(value, "B/s", 4),
    "fixed_text": lambda value: units.fixed_text(value, units.decimals(value, 4)),
    "fixed_text of two decimals": lambda value: units.fixed_text(value, 2),
    "duration_text": units.duration_text,
    "brief_text": units.brief_text,
    "percent_text": units.percent_text,
}
"""The functions that write any quantity. Exact sizes, counts and texts that have to differ keep all their digits."""


@pytest.mark.parametrize("what", TEXTS)
@given(value=_ANY)
def test_no_number_has_more_than_six_significant_digits(what: str, value: float) -> None:
    text = TEXTS[what](value)
    assert len(text) <= 25
    for digits in re.findall(r"[0-9][0-9.]*", re.sub(r"e[+-][0-9]+", "", text)):
        assert len(digits.replace(".", "").strip("0")) <= 6, text
        assert len(digits) <= 16, "not a row of zeros"


@given(value=_ANY)
def test_a_number_as_a_power_of_ten_is_the_same_number(value: float) -> None:
    text = units.fixed_text(value, units.decimals(value, 4))
    if not math.isinf(float(text)):  # the greatest doubles round to none
        assert float(text) == pytest.approx(value, rel=0.01, abs=0, nan_ok=True)
