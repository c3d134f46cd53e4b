"""How exact results are that were fast: the largest error of every launch, against a bar in units in the last place."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from octant.stats import Interval
from octant.study import file
from octant.study.file import StudyError
from octant.study.parts import Cell
from octant.study.question import Judgement, Study
from octant.study.values import CannotTest, LaunchValue, Quantity, StudyValue, StudyValues

NOW = datetime(2026, 11, 23, 16, 0, tzinfo=UTC)
TEXT = """
question = "?"
[baseline]
by = "a"
[measures.speed]
workload = "node/vecmath"
[measures.sine]
workload = "node/vecmath"
metric = "largest error"
knobs = { function = "sin" }
[measures.root]
workload = "node/vecmath"
metric = "largest error"
axis = { knob = "n", values = ["1", "1000"] }
knobs = { function = "sqrt" }
[factors.by]
a = {}
b = { knobs = { library = "relaxed" } }
[[findings]]
id = "p6-massv-10x"
test = { kind = "accuracy", of = { by = "b" }, TEST }
"""
BOTH = 'measures = ["sine", "root"], bar = { below = 4.0 }'


def study(test: str) -> Study:
    return file.parse(TEXT.replace("TEST", test), "test")


def launches(*ulp: float) -> StudyValue:
    return StudyValue(tuple(LaunchValue(Interval(x, x, x), n, NOW) for n, x in enumerate(ulp)))


def judged(test: str, values: Mapping[str, Mapping[str, StudyValue]], absent: tuple[str, ...] = ()) -> Judgement:
    asked = study(test)
    cells = {Cell(measure, ("b",)): found for measure, found in values.items()}
    gone = {Cell(measure, ("b",)): "not installed" for measure in absent}
    quantities = {name: Quantity("ulp", "lower") for name in ("sine", "root")}
    return asked.findings[0].test.judge(asked, StudyValues(quantities, cells, gone, {}))


def test_the_largest_error_of_any_launch_and_place_decides_even_where_there_is_one_launch() -> None:
    root = {"1": launches(0.5), "1000": launches(0.5)}
    found = judged(BOTH, {"sine": {"": launches(2.75)}, "root": root})
    assert found.status == "holds"
    assert found.why == "2.75 ulp for sine, the largest of 2 measures (required: below 4.00 ulp)"
    assert judged(BOTH, {"sine": {"": launches(2.0, 2.0, 4.5, 2.0)}, "root": root}).status == "does not hold"
    bad = {"1": launches(0.5), "1000": launches(0.5, 4.0)}
    worst = judged(BOTH, {"sine": {"": launches(2.75)}, "root": bad})
    assert worst.status == "does not hold"
    assert worst.why.startswith("4.00 ulp for root")


def test_what_is_absent_may_be_worse_but_does_not_hide_what_is_bad() -> None:
    with pytest.raises(CannotTest, match="not installed"):
        judged(BOTH, {"sine": {"": launches(2.75)}}, absent=("root",))
    with pytest.raises(CannotTest, match="not installed"):
        judged(BOTH, {}, absent=("sine", "root"))
    assert judged(BOTH, {"sine": {"": launches(5.0)}}, absent=("root",)).status == "does not hold"


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ('measures = ["speed"], bar = { below = 4.0 }', "accuracy is in ulp, and speed in element/s"),
        ('measures = ["cosine"], bar = { below = 4.0 }', "no measure 'cosine'"),
        ('measures = ["sine"], bar = {}', "exactly one of above, below and within"),
        ("measures = [], bar = { below = 4.0 }", "measures"),
    ],
)
def test_what_is_no_error_is_refused(test: str, why: str) -> None:
    with pytest.raises(StudyError, match=why):
        study(test)
