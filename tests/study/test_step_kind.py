"""Where a time leaves a level: alone, near a place, and by how much it moves."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from octant.stats import Interval
from octant.study import file
from octant.study.file import StudyError
from octant.study.parts import Cell
from octant.study.question import Judgement, Study
from octant.study.values import CannotTest, LaunchValue, Quantity, StudyValue, StudyValues

NOW = datetime(2026, 11, 23, 16, 0, tzinfo=UTC)
PLACES = tuple(str(2**n) for n in range(12))
TEXT = """
question = "?"
[baseline]
pages = "small"
[measures.walk]
workload = "node/latency"
axis = { knob = "count", values = PLACES, unit = "pages" }
[measures.data]
workload = "node/latency"
axis = { knob = "count", values = PLACES }
[measures.few]
workload = "node/latency"
axis = { knob = "count", values = ["1", "2"] }
[measures.rate]
workload = "node/stream"
axis = { knob = "bytes", values = ["1KiB", "2KiB"] }
[factors.pages]
small = {}
large = { knobs = { pages = "thp" } }
[[findings]]
id = "p7-tlb-coverage-16x"
test = { kind = "step", TEST }
"""
FLAT = [1.0] * 12
DATA = [1.0] * 7 + [3.0] * 5  # leaves a cache after 64
SMALL = [1.0] * 4 + [3.0] * 3 + [5.0] * 5  # and another 2 from 16 pages on


def study(test: str) -> Study:
    return file.parse(TEXT.replace("PLACES", str(list(PLACES)).replace("'", '"')).replace("TEST", test), "test")


def judged(test: str, curves: Mapping[tuple[str, str], Sequence[float]], rounds: int = 6) -> Judgement:
    """The verdict on curves whose launches all say the same, but for one in a hundred."""
    asked = study(test)
    by_cell = {}
    for (measure, level), row in curves.items():
        values = {}
        for at, value in zip(PLACES, row, strict=True):
            each = [value * (1 + 0.01 * (n % 2)) for n in range(rounds)]
            launches = tuple(LaunchValue(Interval(x, x, x), n, NOW) for n, x in enumerate(each))
            values[at] = StudyValue(launches)
        by_cell[Cell(measure, (level,))] = values
    quantities = dict.fromkeys(("walk", "data", "few"), Quantity("s", "lower"))
    return asked.findings[0].test.judge(asked, StudyValues(quantities, by_cell, {}, {}))


def test_the_place_is_the_last_one_of_the_level_known_as_far_as_the_axis_is_fine() -> None:
    found = judged("measure = 'walk', level = 1, bar = { within = [8.0, 16.0] }", {("walk", "small"): SMALL})
    assert found.status == "holds"
    assert found.here == Interval(8, 8, 16)
    assert found.why.startswith("8.00 pages [8.00 pages, 16.0 pages], the end of the level along count")
    second = judged("measure = 'walk', level = 2, bar = { above = 100.0 }", {("walk", "small"): SMALL})
    assert second.here == Interval(64, 64, 128)
    assert second.status == "undecided"


def test_the_level_that_ends_nearest_to_a_place_is_said_as_a_share_of_it() -> None:
    test = "measure = 'walk', near = '32', bar = { within = [0.5, 4.0] }"
    found = judged(test, {("walk", "small"): SMALL})
    assert found.here == Interval(2, 2, 4)
    assert found.status == "holds"
    assert "of 32" in found.why


def test_what_the_data_costs_is_taken_off_first() -> None:
    """A step of the data alone is no level of the walk's, and one of the walk is found where data steps too."""
    curves = {("walk", "small"): DATA, ("data", "large"): DATA}
    less = "less = { measure = 'data', of = { pages = 'large' } }"
    none = judged(f"measure = 'walk', {less}, level = 1, bar = {{ above = 1.0 }}", curves)
    assert none.status == "does not hold"
    assert none.why == "level 1 not found for walk, small, from 1 to 2048"
    both = {("walk", "small"): SMALL, ("data", "large"): DATA}
    found = judged(f"measure = 'walk', {less}, level = 1, bar = {{ within = [8.0, 16.0] }}", both)
    assert found.status == "holds"


def test_a_level_moves_by_a_factor_or_beyond_the_end_of_the_axis() -> None:
    test = "measure = 'walk', level = 1, of = { pages = 'large' }, to = {}, bar = { above = 4.0 }"
    later = [1.0] * 8 + [3.0] * 4
    moved = judged(test, {("walk", "small"): SMALL, ("walk", "large"): later})
    assert moved.here == Interval(8, 16, 32)
    assert moved.status == "holds"
    same = judged(test, {("walk", "small"): SMALL, ("walk", "large"): SMALL})
    assert same.here == Interval(0.5, 1, 2)
    assert same.status == "does not hold"
    beyond = judged(test, {("walk", "small"): SMALL, ("walk", "large"): FLAT})
    assert beyond.status == "holds"
    assert beyond.why.startswith("at least ×128")
    with pytest.raises(CannotTest, match="not found"):  # of what it would move from
        judged(test, {("walk", "small"): FLAT, ("walk", "large"): SMALL})
    rising = [1.3**n for n in range(12)]
    with pytest.raises(CannotTest, match="not found"):  # it rises, but on no level
        judged(test, {("walk", "small"): SMALL, ("walk", "large"): rising})


def test_a_level_of_one_measure_is_compared_with_that_of_another() -> None:
    test = "measure = 'walk', level = 1, to = {}, to_measure = 'data', bar = { below = 0.5 }"
    found = judged(test, {("walk", "small"): SMALL, ("data", "small"): DATA})
    assert found.here == Interval(1 / 16, 1 / 8, 1 / 4)
    assert found.status == "holds"


def test_what_a_cache_holds_ends_halfway_between_two_values() -> None:
    test = "measure = 'walk', half = ['8', '2048'], bar = { above = 100.0 }"
    slope = [0.1] * 3 + [1.0, 1.2, 1.5, 2.0, 4.0, 8.0, 9.5, 9.8, 10.0]
    found = judged(test, {("walk", "small"): slope})
    assert found.here == Interval(128, 128, 256)
    assert found.status == "holds"
    flat = judged(test, {("walk", "small"): FLAT})
    assert flat.status == "does not hold"
    assert flat.why == "midpoint of the rise not found for walk, small, from 1 to 2048"


def test_few_launches_leave_it_open() -> None:
    test = "measure = 'walk', level = 1, bar = { above = 4.0 }"
    found = judged(test, {("walk", "small"): SMALL}, rounds=3)
    assert found.status == "undecided"
    none = judged(test, {("walk", "small"): FLAT}, rounds=3)
    assert none.status == "undecided"
    assert none.more_launches == 3


def test_a_level_that_some_launches_lack_is_not_decided() -> None:
    asked = study("measure = 'walk', level = 1, bar = { above = 4.0 }")
    rows = [SMALL] * 4 + [FLAT] * 2
    values = {
        at: StudyValue(tuple(LaunchValue(Interval(row[i], row[i], row[i]), n, NOW) for n, row in enumerate(rows)))
        for i, at in enumerate(PLACES)
    }
    quantities = {"walk": Quantity("s", "lower")}
    found = asked.findings[0].test.judge(asked, StudyValues(quantities, {Cell("walk", ("small",)): values}, {}, {}))
    assert found.status == "undecided"
    assert found.why.startswith("level 1 not found in 2 of 6 launches")


def test_a_point_that_is_not_to_be_had_makes_the_place_less_certain() -> None:
    """Half of the places at least are needed, in a launch and altogether."""
    test = "measure = 'walk', level = 1, bar = { within = [4.0, 32.0] }"
    asked = study(test)

    def values(lost: Sequence[str], launches_lost: Sequence[str] = ()) -> StudyValues:
        curve = {
            at: StudyValue(
                tuple(LaunchValue(Interval(x, x, x), n, NOW) for n in range(7) if n != 3 or at not in launches_lost)
            )
            for at, x in zip(PLACES, SMALL, strict=True)
            if at not in lost
        }
        return StudyValues({"walk": Quantity("s", "lower")}, {Cell("walk", ("small",)): curve}, {}, {})

    assert asked.findings[0].test.judge(asked, values(("16",))).here == Interval(8, 8, 32)
    assert asked.findings[0].test.judge(asked, values((), ("8",))).here == Interval(4, 8, 16)
    some = asked.findings[0].test.judge(asked, values((), PLACES[:7]))
    assert "range over 6 launches" in some.why
    with pytest.raises(CannotTest, match="not measured"):
        asked.findings[0].test.judge(asked, values(PLACES[:7]))


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("measure = 'walk', bar = { above = 1.0 }", "exactly one of level, near and half"),
        ("measure = 'walk', level = 1, near = '8', bar = { above = 1.0 }", "exactly one of level, near and half"),
        ("measure = 'rate', level = 1, bar = { above = 1.0 }", "a step needs a measure of time, and rate is a rate"),
        ("measure = 'walk', near = '9', bar = { above = 1.0 }", "no axis value '9'"),
        ("measure = 'walk', half = ['1', '9'], bar = { above = 1.0 }", "no axis value '9'"),
        ("measure = 'walk', level = 1, less = { measure = 'few' }, bar = { above = 1.0 }", "same values along"),
        ("measure = 'walk', level = 1, less = { measure = 'no' }, bar = { above = 1.0 }", "no measure 'no'"),
        ("measure = 'walk', level = 1, to = {}, bar = { above = 1.0 }", "compared with itself"),
        ("measure = 'walk', level = 1, to_measure = 'data', bar = { above = 1.0 }", "it needs the key"),
        (
            "measure = 'walk', near = '8', of = { pages = 'large' }, to = {}, bar = { above = 1.0 }",
            "`near` and `to` exclude each other",
        ),
    ],
)
def test_a_step_that_says_too_little_or_too_much_is_refused(test: str, why: str) -> None:
    with pytest.raises(StudyError, match=why):
        study(test)
