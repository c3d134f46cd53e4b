"""Launches of one cell: neighbours that resemble each other, equal points that disagree, and caveats about a figure."""

import ast
from datetime import UTC, datetime

import numpy as np
import pytest

from launch_shapes import autoregressive_launches
from octant.stats.caveats import BOUNDS, GRADES, Caveat, Grade, caveat, graded, worst_of_each_kind
from octant.stats.intervals import Period, median_over_launches
from octant.stats.launches import (
    caveats_about_equal_points,
    caveats_over_launches,
    explain_few_launches,
    neighbour_correlation,
)
from octant.stats.occasions import TwoRuns, occasion_verdicts
from octant.stats.samples import Interval
from paths import ROOT

NOW = datetime(2026, 11, 22, 7, 35, tzinfo=UTC)
PERIOD = Period(NOW, NOW)


def exact(*values: float) -> list[Interval]:
    return [Interval(value, value, value) for value in values]


def caveats_of(*values: float) -> dict[str, Grade]:
    launches = exact(*values)
    found = caveats_over_launches(launches, median_over_launches(launches, PERIOD))
    return {one.kind: one.grade for one in found}


@pytest.mark.parametrize("launches", range(1, 8))
def test_conclusions_are_announced_as_impossible_exactly_if_they_are(launches: int) -> None:
    text = explain_few_launches(launches)
    values = [1 + 0.001 * number for number in range(launches)]
    assert ("no 95 % interval" in text) == (not median_over_launches(exact(*values), PERIOD).is_interval)
    side = np.log(values)
    (verdict,) = occasion_verdicts([TwoRuns(side, side, np.zeros(0))], PERIOD)
    assert ("no verdict in comparisons with stored runs" in text) == (verdict.word == "insufficient data")
    if text:
        assert explain_few_launches(int(text.rpartition("--repeats ")[2])) == ""


def test_neighbours_that_resemble_each_other_are_seen() -> None:
    generator = np.random.default_rng(31)
    alike = [neighbour_correlation(np.exp(row)) for row in autoregressive_launches((300, 60), 0.7, generator)]
    apart = [neighbour_correlation(np.exp(row)) for row in generator.normal(size=(300, 60))]
    assert np.mean(np.array(alike) > 0.3) > 0.95
    assert np.mean(np.array(apart) > 0.3) < 0.03
    assert neighbour_correlation(np.arange(1.0, 8.0)) == 0  # too few
    assert neighbour_correlation(np.ones(20)) == 0
    assert neighbour_correlation([]) == 0


def test_doubts_follow_number_spread_and_order_of_launches() -> None:
    assert caveats_of(100, 101, 100, 99, 100, 100) == {}
    assert caveats_of(100) == {"few launches": Grade.NOTE}
    assert caveats_of(100, 101) == {"few launches": Grade.NOTE}
    assert caveats_of(100, 100.1, 99.9) == {"few launches": Grade.NOTE}
    assert caveats_of(95, 100, 105, 95, 100, 105) == {"wide interval": Grade.NOTE}
    assert caveats_of(80, 100, 120, 80, 100, 120) == {"wide interval": Grade.LIMITED}
    assert caveats_of(50, 100, 200, 50, 100, 200) == {"wide interval": Grade.INVALID}
    assert caveats_of(*range(100, 108)) == {"autocorrelated launches": Grade.NOTE}


def test_the_width_of_a_share_counts_in_points() -> None:
    lost = (0.02, 0.04, 0.08, 0.02, 0.04, 0.08)
    estimate = median_over_launches(exact(*lost), PERIOD)
    kinds = [
        {one.kind: one.grade for one in caveats_over_launches(exact(*lost), estimate, whole)} for whole in (False, True)
    ]
    assert kinds == [{"wide interval": Grade.INVALID}, {}]
    wide = [20 * value for value in lost]  # the interval is twenty times as wide
    (found,) = caveats_over_launches(exact(*wide), median_over_launches(exact(*wide), PERIOD), of_whole=True)
    assert found.text == "not measurable: 6 launches differ too much; use more launches"


def test_equal_points_that_disagree_are_a_doubt() -> None:
    near, far = exact(100, 101, 99), exact(110, 111, 109)
    (found,) = caveats_about_equal_points([near, far], "{:.0f} ns".format)
    assert found.kind == "inconsistent repeated measurements"
    assert found.text == "repeated measurements of this run differ by 10 % (100 ns and 110 ns)"
    assert caveats_about_equal_points([near, exact(102, 103, 101)]) == ()  # within 3 %
    (twice,) = caveats_about_equal_points([near, exact(200, 202, 198)])
    assert twice.text == "repeated measurements of this run differ by 100 % (100 and 200)"
    noisy = (100, 110, 90)  # a spread of 10 %
    assert caveats_about_equal_points([exact(*noisy), exact(*(1.25 * value for value in noisy))]) == ()  # three spreads
    assert caveats_about_equal_points([exact(*noisy), exact(*(1.4 * value for value in noisy))]) != ()
    assert caveats_about_equal_points([exact(100), exact(104)]) != ()  # nothing is known of the spread
    assert caveats_about_equal_points([near]) == ()
    assert caveats_about_equal_points([exact(0, 1), exact(5, 6)]) == ()  # no logarithms


def test_grades_depend_on_the_kind_or_on_the_size() -> None:
    assert caveat("drift", "drifts by 4 %") == Caveat("drift", Grade.LIMITED, "drifts by 4 %")
    assert not GRADES.keys() & BOUNDS.keys()
    expected = {0.01: [], 0.011: [Grade.NOTE], 0.05: [Grade.NOTE], 0.06: [Grade.LIMITED], 0.51: [Grade.INVALID]}
    for size, grades in expected.items():
        assert [one.grade for one in graded("lost time", size, "")] == grades
    with pytest.raises(KeyError):
        caveat("no such kind", "")


def test_one_doubt_of_each_kind_is_left_the_worst_first() -> None:
    notes = [caveat("outliers", "7 % outliers"), caveat("outliers", "9 % outliers")]
    lost = [*graded("lost time", 0.02, "2 %"), *graded("lost time", 0.6, "60 %"), *graded("lost time", 0.3, "30 %")]
    assert worst_of_each_kind([*notes, *lost]) == (lost[1], notes[0])


@pytest.mark.parametrize("order", [(0.20, 0.21, 0.35), (0.35, 0.20, 0.21), (0.21, 0.35, 0.20)])
def test_of_doubts_of_one_grade_the_greatest_is_left(order: tuple[float, ...]) -> None:
    lost = [one for share in order for one in graded("lost time", share, f"{100 * share:.0f} % lost")]
    assert {one.grade for one in lost} == {Grade.LIMITED}
    assert [one.text for one in worst_of_each_kind(lost)] == ["35 % lost"]
    drifts = [caveat("drift", f"drifts by {change:+.0%}", abs(change)) for change in (0.04, -0.12, 0.05)]
    assert worst_of_each_kind(drifts) == (drifts[1],)
    few = [caveat("few bursts", f"only {number} bursts", -number) for number in (3, 1, 2)]
    assert worst_of_each_kind(few) == (few[1],)


def test_every_doubt_whose_text_has_a_number_of_its_launch_can_be_graded_by_it() -> None:
    """A call without a size is of a kind that is equally bad in all launches."""
    without = set()
    for path in (ROOT / "src/octant").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "caveat" and len(node.args) == 2:
                without.add(ast.unparse(node.args[0]).strip("'"))
    assert without == {
        "wrong result", "fault-injection build", "oversubscription", "emulated link", "imported result",
        "result not verified",
        "rank or thread count not stated",
        "insufficient memory load", "access to memory instead of storage", "rounded sizes", "precision not reached",
        "load from other processes", "single choice of CPUs",
        "probe.kind", "kind",
    }  # fmt: skip


def test_doubts_about_launches_have_their_numbers() -> None:
    def texts(*values: float) -> list[str]:
        return [one.text for one in caveats_over_launches(exact(*values), median_over_launches(exact(*values), PERIOD))]

    assert texts(100) == ["there is only 1 launch; 6 or more give an interval from order statistics"]
    assert texts(100, 101) == ["there are only 2 launches; 6 or more give an interval from order statistics"]
    (wide,) = texts(95, 100, 105, 95, 100, 105)
    assert wide == "the 95 % interval is ± 5 %; more launches narrow it"
    assert texts(50, 100, 200, 50, 100, 200) == ["not measurable: 6 launches differ too much; use more launches"]
    assert texts(*range(100, 108)) == [
        "successive launches are correlated (lag-1 autocorrelation 0.6), so the interval is too narrow"
    ]
