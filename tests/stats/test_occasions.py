"""Runs on different occasions: false alarms with and without a history, and the words."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from octant.stats.intervals import Period
from octant.stats.occasions import TwoRuns, occasion_verdicts
from octant.stats.student import smallest_effect
from octant.stats.verdicts import Verdict

MONDAY = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
PERIOD = Period(MONDAY, MONDAY + timedelta(days=6))
NONE = np.array([])


def occasion(generator: np.random.Generator, launches: int, spread: float = 1.0) -> NDArray[np.float64]:
    """Logarithms of launches that spread by 1 % about a level that the occasion draws."""
    return np.asarray(0.01 * (generator.normal(0, spread) + generator.normal(size=launches)))


def verdict(before: NDArray[np.float64], after: NDArray[np.float64], history: NDArray[np.float64] = NONE) -> Verdict:
    return occasion_verdicts([TwoRuns(before, after, history)], PERIOD)[0]


def test_the_spread_between_occasions_keeps_false_alarms_few() -> None:
    generator = np.random.default_rng(61)
    alarms = []
    for _ in range(1500):
        history = np.array([np.median(occasion(generator, 6)) for _ in range(4)])
        alarms.append(TwoRuns(occasion(generator, 6), occasion(generator, 6), history).p() <= 0.05)
    assert np.mean(alarms) <= 0.055


def test_without_it_more_launches_raise_more_false_alarms() -> None:
    generator = np.random.default_rng(62)
    for launches, share in ((6, 0.35), (12, 0.5)):
        runs = [TwoRuns(occasion(generator, launches), occasion(generator, launches), NONE) for _ in range(400)]
        assert np.mean([one.p() <= 0.05 for one in runs]) > share


def test_two_occasions_only_differ_until_four_are_known() -> None:
    generator = np.random.default_rng(63)
    a, b = occasion(generator, 6, 0), occasion(generator, 6, 0)
    far = b - 0.1
    assert verdict(a, far).word == "differs"
    assert verdict(a, far).text == "differs between these two sessions"
    assert verdict(a, b).text == "no difference detected between these two sessions"
    assert verdict(a, b).word == "no difference detected"
    steady = np.array([0, 0.001, -0.001, 0.0005])
    assert verdict(a, far, steady[:3]).word == "differs"
    assert [verdict(a, b + shift, steady).word for shift in (-0.1, 0, 0.1)] == ["slower", "equivalent", "faster"]
    assert verdict(a, far, 100 * steady).word == "undecided"


def test_intervals_say_which_occasions_they_are_for() -> None:
    a = 0.01 * np.array([0, 1, -1, 0.5, -0.5, 0.2])
    alone, known = verdict(a, a + 0.05), verdict(a, a + 0.05, np.array([0, 0.001, 0.002, 0.003]))
    assert alone.speed is not None
    assert known.speed is not None
    days = "between 2026-11-16 09:00 and 2026-11-22 09:00"
    what = "the geometric mean ratio of these two sessions only, from at least 6 launches on each side"
    assert alone.speed.text == f"95 % interval for {what} {days}"
    assert known.speed.text == f"95 % interval for the geometric mean ratio in other sessions, from 4 sessions {days}"
    assert known.speed.middle == pytest.approx(math.exp(0.05))


def test_fewer_than_four_launches_on_a_side_give_no_word() -> None:
    a = np.zeros(6)
    for few in (a[:1] + 1, a[:3] + 1):
        assert verdict(a, few).word == "insufficient data"
        assert verdict(a, few).text == f"insufficient data: {len(few)} of 4 launches of B"


def test_launches_without_spread_give_a_word() -> None:
    flat = np.zeros(4)
    assert verdict(flat, flat).word == "no difference detected"
    assert verdict(flat, flat + 0.1).word == "differs"


def test_many_figures_are_corrected() -> None:
    a = 0.01 * np.array([0, 1, -1, 0.5, -0.5, 0.2])
    slight, clean = TwoRuns(a, a[::-1] * 4 + 0.04, NONE), TwoRuns(a, a, NONE)
    assert slight.p() == pytest.approx(0.03, abs=0.015)
    assert occasion_verdicts([slight], PERIOD)[0].word == "differs"
    assert occasion_verdicts([slight, *[clean] * 29], PERIOD)[0].word == "no difference detected"


def test_the_interval_for_other_occasions_is_students_with_the_spread_between_them() -> None:
    launches = np.array([0.0, 0.01, -0.01, 0.02, -0.02, 0.0])
    history = np.array([0.0, 0.02, -0.02, 0.01])
    found = verdict(launches, launches + 0.05, history)
    error = math.sqrt(2 * history.var(ddof=1) + 2 * launches.var(ddof=1) / 6)
    assert found.speed is not None
    ends = 0.05 + 3.182446305 * error * np.array([-1, 0, 1])  # t of 97.5 % with 3 degrees of freedom
    assert [found.speed.low, found.speed.middle, found.speed.high] == pytest.approx(list(np.exp(ends)))
    assert found.max_undetected_effect == pytest.approx(math.expm1(0.05 + 3.182446305 * error))
    assert (found.number, found.unit) == (6, "launches on each side")


@pytest.mark.parametrize(("reach", "word"), [(0.999, "equivalent"), (1.001, "undecided")])
def test_same_means_that_the_interval_of_90_percent_lies_within_the_margin(reach: float, word: str) -> None:
    history = np.array([1.0, -1.0, 1.0, -1.0])
    error = math.sqrt(2 * history.var(ddof=1))
    history *= reach * math.log1p(0.03) / (2.353363435 * error)  # t of 95 % with 3 degrees of freedom
    assert verdict(np.zeros(4), np.zeros(4), history).word == word


def test_a_p_value_at_the_threshold_is_a_difference() -> None:
    runs = TwoRuns(np.array([0, 0.01, -0.01, 0.02]), np.array([0, 0.01, -0.01, 0.02]) + 0.05, NONE)
    assert occasion_verdicts([runs], PERIOD, threshold=runs.p())[0].word == "differs"
    assert occasion_verdicts([runs], PERIOD, threshold=0.999 * runs.p())[0].word == "no difference detected"


def test_what_could_be_found_is_what_as_many_paired_rounds_would_find() -> None:
    history = np.array([0.0, 0.02, -0.02, 0.01])
    found = verdict(np.zeros(6), np.zeros(6), history)
    error = math.sqrt(2 * history.var(ddof=1))
    assert found.min_detectable_effect == pytest.approx(math.expm1(smallest_effect(4, 0.05) * 2 * error))
    assert found.speed is not None
    assert found.speed.kind == "student"


def test_launches_without_spread_have_all_their_degrees_of_freedom() -> None:
    assert TwoRuns(np.zeros(4), np.ones(6), NONE).error() == (0, 8)


def test_launches_that_differ_without_spread_have_the_probability_0_and_equal_ones_1() -> None:
    assert TwoRuns(np.zeros(4), np.ones(4), NONE).p() == 0
    assert TwoRuns(np.ones(4), np.ones(4), NONE).p() == 1
