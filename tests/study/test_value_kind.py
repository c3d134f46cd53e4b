"""A value in its own unit: the median of launches, or the launch that has the most."""

from datetime import UTC, datetime

import pytest

from octant.stats import Interval
from octant.study import file
from octant.study.parts import Cell
from octant.study.question import Judgement
from octant.study.values import LaunchValue, Quantity, StudyValue, StudyValues
from study_text import STUDY

NOW = datetime(2026, 11, 23, 16, 0, tzinfo=UTC)


def judged(test: str, *launches: float) -> Judgement:
    text = STUDY.replace('kind = "ratio", measure = "m", of = { which = "b" }, bar = { above = 1.0 }', test)
    study = file.parse(text, "mine")
    value = StudyValue(tuple(LaunchValue(Interval(x, x, x), n, NOW) for n, x in enumerate(launches)))
    cells = {Cell("m", ("a",)): {"": value}}
    return study.findings[0].test.judge(study, StudyValues({"m": Quantity("B/s", "higher")}, cells, {}, {}))


def test_a_value_names_the_levels_that_are_not_the_baselines() -> None:
    ratio = 'kind = "ratio", measure = "m", of = { which = "b" }'
    study = file.parse(STUDY.replace(ratio, ratio.replace("ratio", "value")), "mine")
    value = StudyValue((LaunchValue(Interval(2, 2, 2), 0, NOW),))
    values = StudyValues({"m": Quantity("B/s", "higher")}, {Cell("m", ("b",)): {"": value}}, {}, {})
    assert "B/s for m, which b" in study.findings[0].test.judge(study, values).why


SEEN = [
    ((0, 0, 3), "holds", "3.00 B/s for m, the largest of 3 launches"),
    ((0,) * 6, "does not hold", "0 B/s for m, the largest of 6 launches"),
    ((2,), "holds", "2.00 B/s for m, the largest of 1 launch "),
    ((0,), "undecided", "0 B/s for m, the largest of 1 launch "),
]


@pytest.mark.parametrize(("launches", "status", "why"), SEEN)
def test_of_what_happens_now_and_then_once_is_enough(launches: tuple[float, ...], status: str, why: str) -> None:
    found = judged('kind = "value", measure = "m", largest = true, bar = { above = 0 }', *launches)
    assert found.status == status
    assert found.why.startswith(why)


@pytest.mark.parametrize(("launches", "status"), [((0, 1), "does not hold"), ((0,), "undecided"), ((0,) * 6, "holds")])
def test_that_it_never_happens_takes_launches_and_once_is_against_it(launches: tuple[float, ...], status: str) -> None:
    assert (
        judged('kind = "value", measure = "m", largest = true, bar = { within = [0, 0] }', *launches).status == status
    )


def test_else_it_is_the_median_and_needs_launches() -> None:
    test = 'kind = "value", measure = "m", bar = { above = 0 }'
    assert judged(test, 3.0).status == "undecided"
    assert judged(test, *(3.0,) * 6).status == "holds"
