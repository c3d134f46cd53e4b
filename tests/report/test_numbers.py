"""Values in words: one scale, one number of decimals, as many digits as their interval allows."""

import datetime
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant.report import claims
from octant.stats import Estimate, Period

AT = Period(*[datetime.datetime(2026, 11, 22, 8, 45, tzinfo=datetime.UTC)] * 2)


def estimate(low: float, middle: float, high: float, kind: str = "order statistics", claim: str = "median") -> Estimate:
    return Estimate(low, middle, high, kind, claim, 6, AT)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ends", "unit", "number", "shown"),
    [
        ((122.6e9, 129.4e9, 135.8e9), "flop/s", "129 Gflop/s", "123 … 136"),
        ((24.8e9, 25.66e9, 26.7e9), "B/s", "25.7 GB/s", "24.8 … 26.7"),
        ((1.412e-6, 1.508e-6, 1.601e-6), "s", "1.51 µs", "1.41 … 1.60"),
        ((63.9e9, 66.8e9, 68.9e9), "flop/s", "67 Gflop/s", "64 … 69"),
        ((15.5308e9, 15.6481e9, 15.7237e9), "B/s", "15.65 GB/s", "15.53 … 15.72"),
        ((142e-9, 164e-9, 190e-9), "s", "164 ns", "142 … 190"),
        ((99.9e-9, 100e-9, 100.2e-9), "s", "100.0 ns", "99.9 … 100.2"),  # a half-width of 0.15, and four digits
        ((123.4561, 123.4567, 123.4573), "1", "123.5", "123.5 … 123.5"),
        ((1500.0, 1502.0, 1504.0), "s", "1502 s", "1500 … 1504"),
        ((1.5 * 2**30, 1.6 * 2**30, 1.7 * 2**30), "B", "1.60 GiB", "1.50 … 1.70"),
        ((0.0, 0.0, 0.0), "B/s", "0 B/s", "0 … 0"),
    ],
)
def test_the_half_width_of_an_interval_decides_the_digits(
    ends: tuple[float, float, float], unit: str, number: str, shown: str
) -> None:
    texts = claims.value_texts(estimate(*ends), unit)
    assert (f"{texts.number} {texts.unit}".strip(), texts.ends) == (number, shown)


def test_a_share_is_in_percent() -> None:
    texts = claims.value_texts(estimate(0.021, 0.034, 0.047, claim="share"), "1", share=True)
    assert (texts.number, texts.unit, texts.ends) == ("3.4", "%", "2.1 … 4.7")
    none = claims.value_texts(estimate(0.0, 0.0, 0.004, claim="share"), "1", share=True)
    assert (none.number, none.ends) == ("0.0", "0.0 … 0.4")


def test_without_an_interval_a_value_has_three_digits() -> None:
    two = claims.value_texts(estimate(25.664e9, 25.981e9, 26.298e9, "two values"), "B/s")
    assert (two.number, two.ends) == ("26.0", "25.7 and 26.3")
    assert claims.quantity(1.2345e9, "B/s") == "1.23\u202fGB/s"
    assert claims.quantity(0.0344, "1", share=True) == "3.44\u202f%"


VALUES = st.floats(1e-11, 1e17)


@given(VALUES, st.floats(0, 0.29), st.floats(0, 0.29), st.sampled_from(["B/s", "s", "B", "1", "flop/s"]))
def test_value_and_ends_share_one_scale_and_one_number_of_decimals(
    middle: float, above: float, below: float, unit: str
) -> None:
    value = estimate(middle * (1 - below), middle, middle * (1 + above))
    texts = claims.value_texts(value, unit)
    low, high = texts.ends.split(" … ")
    if "e" in low + texts.number + high:
        return  # more digits than anybody reads: a power of ten
    places = {len(text.partition(".")[2]) for text in (texts.number, low, high)}
    assert len(places) == 1
    written = [float(text) for text in (low, texts.number, high)]
    assert written == sorted(written)
    scale = _scale_of(texts.unit, unit)
    for shown, exact in zip(written, (value.low, value.middle, value.high), strict=True):
        assert abs(shown * scale - exact) <= 0.51 * scale * 10.0 ** -places.copy().pop(), "rounded, and nothing else"


@given(VALUES, st.floats(1e-6, 0.29), st.sampled_from(["B/s", "s", "1"]))
def test_no_more_than_four_digits_and_no_more_than_the_interval_gives(middle: float, half: float, unit: str) -> None:
    texts = claims.value_texts(estimate(middle * (1 - half), middle, middle * (1 + half)), unit)
    if unit == "1" and not 1e-3 < middle < 1e3:
        return  # a bare number has no prefix: its zeros are none that matter
    if "e" in texts.number:
        return  # more digits than anybody reads: a power of ten
    digits = re.sub(r"^0+", "", texts.number.replace(".", ""))
    assert len(digits) <= 4 or "." not in texts.number
    last = 10.0 ** -len(texts.number.partition(".")[2]) * _scale_of(texts.unit, unit)
    if "." in texts.number:
        assert last >= half * middle / 20, "no digit finer than a twentieth of the half-width"


@pytest.mark.parametrize(
    ("ends", "claim", "number", "shown"),
    [
        ((6.0, 16.7, 84.0), "median", "17", ""),  # ± 233 %
        ((0.0, 1310.0, 1719137.0), "median", "1310", ""),
        ((1.0, 1310.0, math.inf), "median", "1310", ""),
        ((70.0, 100.0, 130.0), "median", "100", "70 … 130"),
        ((70.0, 100.0, 130.1), "median", "100", ""),
        ((0.01, 0.2, 0.6), "share", "20", "1 … 60"),  # ± 30 points
        ((0.01, 0.2, 0.62), "share", "20", ""),
        ((0.006, 0.9, 140.0), "ratio in rounds", "0.90", ""),
        ((9.0, 14.4, 23.0), "ratio in rounds", "14", "9 … 23"),  # wide, and yet a proof
    ],
)
def test_an_interval_that_says_nothing_is_not_stated(
    ends: tuple[float, float, float], claim: str, number: str, shown: str
) -> None:
    texts = claims.value_texts(estimate(*ends, claim=claim), "1", share=claim == "share")
    assert (texts.number, texts.ends) == (number, shown)
    assert ("95 % interval" in texts.claim) == bool(shown)


def test_parts_of_a_whole_percentage_keep_a_decimal() -> None:
    """As whole percentages that add up to 74 the first was written 72 %."""
    texts = claims.part_texts([0.7258, 0.0, 0.0074, 0.0087], "74")
    assert [text.partition(claims.NARROW)[0] for text in texts] == ["72.6", "0.0", "0.7", "0.9"]


def _scale_of(shown: str, unit: str) -> float:
    prefixes = {
        "p": 1e-12,
        "n": 1e-9,
        "µ": 1e-6,
        "m": 1e-3,
        "k": 1e3,
        "M": 1e6,
        "G": 1e9,
        "T": 1e12,
        "P": 1e15,
        "E": 1e18,
    }
    binary = {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}
    return binary.get(shown) or prefixes.get(shown.removesuffix(unit), 1.0)
