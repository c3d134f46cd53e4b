"""The kind `limit`: up to where a measure stays near its best."""

import dataclasses

import pytest

from judged_study import AXIS, CAVEATS, SIZES, curve, judged, measured, study
from octant.stats import Interval
from octant.study import file
from octant.study.kinds.limit import last_near, left_beyond

TEST = 'kind = "limit", measure = "m", of = { which = "b" }, bar = { BAR }'


def test_the_last_place_within_a_share_of_the_best() -> None:
    assert last_near([9, 10, 9.6, 7], 0.05, "higher") == 2
    assert last_near([10, 9.4, 9.6, 7], 0.05, "higher") == 2, "one place in between does not end it"
    assert last_near([10, 9.4, 9.4, 7], 0.05, "higher") == 0
    assert last_near([10, 9.4, 9.4, 7], 0.1, "higher") == 2
    assert last_near([1.0, 1.05, 1.06, 2], 0.05, "lower") == 1, "of times, as shares of the rates that they mean"


def test_what_is_left_at_twice_the_place_or_behind_it() -> None:
    rates = [10.0, 10.0, 8.0, 6.0]
    assert left_beyond([1, 4, 6, 8], rates, 1, "higher") == pytest.approx(0.6)
    assert left_beyond([1, 4, 6, 9], rates, 1, "higher") == pytest.approx(0.6), "the next one measured"
    assert left_beyond([1, 4, 6, 7], rates, 2, "higher") == pytest.approx(0.6), "the axis ends before twice"
    assert left_beyond([1, 2, 4, 8], [1.0, 1.0, 2.0, 4.0], 1, "lower") == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("bar", "status"),
    [
        ("within = [2000, 3000]", "holds"),
        ("within = [4096, 8192]", "does not hold"),
        ("above = 1024", "holds"),
        ("below = 2048", "does not hold"),
    ],
)
def test_a_limit_is_compared_with_the_bar(bar: str, status: str) -> None:
    found = judged(TEST.replace("BAR", bar), {"m b": curve(9.8, 10, 7, 6)}, AXIS)
    assert found.status == status
    assert found.here == Interval(2048, 2048, 2048)
    assert ", the largest bytes within 5 % of the best; 70 % of the best at twice this value (required" in found.why


def test_the_limits_of_launches_are_one_each() -> None:
    """In every second round the third place is near the best too."""
    last = measured(*[9.9 if n % 2 else 7 for n in range(6)])
    values = dict(zip(SIZES, (measured(*[10] * 6), measured(*[10] * 6), last, measured(*[5] * 6)), strict=True))
    found = judged(TEST.replace("BAR", "within = [2000, 3000]"), {"m b": values}, AXIS)
    assert found.here == Interval(2048, 3072, 4096)
    assert found.status == "undecided"
    assert "in brackets: range over 6 launches" in found.why


def test_where_the_axis_ends_within_the_limit_only_what_lies_below_is_decided() -> None:
    flat = {"m b": curve(9.8, 10, 10, 9.9)}
    assert judged(TEST.replace("BAR", "within = [1024, 4096]"), flat, AXIS).status == "does not hold"
    above = judged(TEST.replace("BAR", "above = 4096"), flat, AXIS)
    assert above.status == "holds"
    assert "within 5 % of the best; the axis ends before a limit" in above.why
    beyond = judged(TEST.replace("BAR", "above = 8192"), flat, AXIS)
    assert beyond.text == "cannot be tested here: no limit up to bytes = 8KiB, the end of the axis"
    none = judged(TEST.replace("BAR", "above = 1"), {"m b": curve(9, 9, 0, 9)}, AXIS)
    assert none.text == "cannot be tested here: a value is zero, so there is no limit"


def test_what_was_published_has_the_unit_of_the_axis() -> None:
    there = 'there = { table = "p775-prefetch", metric = "prefetch_streams" }'
    found = judged(TEST.replace("BAR", "within = [2000, 3000]"), {"m b": curve(9.8, 10, 7, 6)}, AXIS, there)
    assert found.text.startswith("holds: published 12, 2.05e+03, the largest bytes")
    assert judged(TEST.replace("BAR", "above = 1"), {}, AXIS, there).there_text == "12"
    lines = AXIS.replace("}", ', unit = "lines" }')
    assert judged(TEST.replace("BAR", "above = 1"), {}, lines, there).there_text == "12.0 lines"


def test_a_limit_names_the_doubts() -> None:
    limited = {at: dataclasses.replace(one, caveats=CAVEATS) for at, one in curve(10, 10, 4, 4).items()}
    text = judged(TEST.replace("BAR", "above = 1024"), {"m b": limited}, AXIS).text
    assert "caveats: 9 % slower" in text


@pytest.mark.parametrize(
    ("axis", "said"),
    [
        ('axis = { knob = "bytes", values = ["4KiB", "2KiB"] }', "needs ascending numbers"),
        ('axis = { knob = "bytes", values = ["4KiB to llc by 4"] }', "needs ascending numbers"),
        ("", "needs a measure with an axis"),
    ],
)
def test_a_limit_without_an_axis_that_ascends_is_refused(axis: str, said: str) -> None:
    with pytest.raises(file.StudyError, match=said):
        study(TEST.replace("BAR", "above = 1.0"), axis)
