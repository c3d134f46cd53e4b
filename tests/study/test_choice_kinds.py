"""Tests about the choice of a level: whether the best is among some, and what a bad choice costs."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from octant.stats import Caveat, Grade, Interval
from octant.study import file
from octant.study.file import StudyError
from octant.study.parts import Cell
from octant.study.question import Judgement, Study
from octant.study.values import CannotTest, LaunchValue, Quantity, StudyValue, StudyValues

NOW = datetime(2026, 11, 22, 7, 35, tzinfo=UTC)
TEXT = """
question = "?"
[baseline]
way = "a"
[measures.m]
workload = "mpi/exchange"
ranks = "2"
[factors.way]
a = {}
b = { knobs = { mode = "ten" } }
c = { knobs = { mode = "cold" } }
d = { knobs = { walk = "2MiB" } }
[[findings]]
id = "bgp-proto-small-2x"
test = { measure = "m", factor = "way", TEST }
"""


def study(test: str) -> Study:
    return file.parse(TEXT.replace("TEST", test), "test")


def launches(*seconds: float) -> StudyValue:
    found = [LaunchValue(Interval(x, x, x), n, NOW + timedelta(minutes=n)) for n, x in enumerate(seconds)]
    return StudyValue(tuple(found))


def judged(test: str, times: Mapping[str, StudyValue], absent: str = "") -> Judgement:
    asked = study(test)
    cells = {Cell("m", (way,)): {"": value} for way, value in times.items()}
    gone = {Cell("m", (way,)): "not in this library" for way in absent}
    values = StudyValues({"m": Quantity("s", "lower")}, cells, gone, {})
    return asked.findings[0].test.judge(asked, values)


FIVE = (1.0, 1.1, 1.05, 0.95, 1.0)
TIMES = {way: launches(*(x * times for x in FIVE)) for way, times in (("a", 1.0), ("b", 2.0), ("c", 1.02), ("d", 3.0))}


def test_the_best_of_some_over_the_best_of_the_others() -> None:
    best = judged('kind = "best", of = ["a", "b"], bar = { above = 0.9 }', TIMES)
    assert best.status == "holds"
    assert best.here is not None
    assert best.here.middle == pytest.approx(1.02), "a over c"
    assert "m, a over c, the best of the others (required" in best.why
    assert judged('kind = "best", of = ["b", "d"], bar = { above = 0.9 }', TIMES).status == "does not hold"
    named = judged('kind = "best", of = ["b"], to = ["d"], bar = { above = 1.4 }', TIMES)
    assert named.here is not None
    assert named.here.middle == pytest.approx(1.5)


def test_the_best_over_the_worst_or_over_the_worst_of_most() -> None:
    whole = judged('kind = "choice", bar = { within = [2.5, 3.5] }', TIMES)
    assert whole.status == "holds"
    assert "a over d, the worst of all 4 (required" in whole.why
    half = judged('kind = "choice", share = 0.5, bar = { below = 1.01 }', TIMES)
    assert half.status == "does not hold"
    assert half.here is not None
    assert half.here.middle == pytest.approx(1.02)
    assert "c, the worst of the best 2 of 4" in half.why
    some = judged('kind = "choice", among = ["b", "d"], bar = { above = 1.4 }', TIMES)
    assert some.here is not None
    assert some.here.middle == pytest.approx(1.5)


def test_unsupported_choices_are_omitted_and_uncertain_ones_are_not() -> None:
    left = {way: TIMES[way] for way in "abc"}
    found = judged('kind = "choice", bar = { above = 1.5 }', left, absent="d")
    assert "worst of all 3" in found.why
    with pytest.raises(CannotTest, match="only one way"):
        judged('kind = "choice", bar = { above = 1.5 }', {"a": TIMES["a"]}, absent="bcd")
    with pytest.raises(CannotTest, match="not in this library"):
        judged('kind = "best", of = ["d"], bar = { above = 1.5 }', left, absent="d")
    lost = StudyValue(TIMES["d"].launches, caveats=(Caveat("lost time", Grade.INVALID, "60 % was lost"),))
    with pytest.raises(CannotTest, match="60 % was lost"):
        judged('kind = "choice", bar = { above = 1.5 }', {**TIMES, "d": lost})


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ('kind = "best", of = ["a", "x"], bar = { above = 1.0 }', "no level 'x' of way"),
        ('kind = "best", of = ["a"], to = ["a"], bar = { above = 1.0 }', "'a' is listed twice"),
        ('kind = "choice", among = ["a", "a"], bar = { above = 1.0 }', "'a' is listed twice"),
        ('kind = "choice", at = "8", bar = { above = 1.0 }', "no axis value '8'"),
    ],
)
def test_a_choice_that_is_none_is_refused(test: str, why: str) -> None:
    with pytest.raises(StudyError, match=why):
        study(test)
    with pytest.raises(StudyError, match="no factor 'way2'"):
        file.parse(TEXT.replace("TEST", test).replace('factor = "way"', 'factor = "way2"'), "test")
