"""The slowest place over the fastest: published quantiles, by hand, and false alarms simulated with fixed seeds."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest
from numpy.typing import NDArray

from octant.stats.intervals import Period
from octant.stats.places import slowest_over_fastest, studentized_range
from octant.stats.student import t_quantile

MORNING = datetime(2026, 11, 22, 7, 35, tzinfo=UTC)
PERIOD = Period(MORNING, MORNING)


@pytest.mark.parametrize(
    ("number", "freedom", "published"), [(3, 6, 4.339), (4, 12, 4.199), (10, 20, 5.008), (20, 60, 5.241)]
)
def test_the_studentized_range_has_the_published_quantiles(number: int, freedom: int, published: float) -> None:
    assert studentized_range(number, freedom) == pytest.approx(published, abs=6e-4)


def test_two_places_have_students_paired_interval() -> None:
    y = np.log([[1.00, 0.96], [1.10, 1.04], [0.90, 0.89], [1.20, 1.16]])
    estimate, slow, fast = slowest_over_fastest(y, PERIOD)
    apart = y[:, 1] - y[:, 0]
    half = t_quantile(0.05, 3) * apart.std(ddof=1) / 2
    assert (slow, fast, estimate.number) == (1, 0, 4)
    assert (estimate.low, estimate.high) == pytest.approx(
        (math.exp(apart.mean() - half), math.exp(apart.mean() + half))
    )
    assert estimate.text.startswith("95 % interval for the slowest location over the fastest, paired in 4 launches")


def launches(number: int, places: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Places that are equal, in launches that differ from one another by three times as much."""
    return generator.normal(size=(number, places)) + 3 * generator.normal(size=(number, 1))


@pytest.mark.parametrize(("places", "trials"), [(2, 2000), (4, 2000), (40, 1000), (256, 200)])
@pytest.mark.parametrize("number", [4, 6, 12])
def test_equal_places_are_seldom_called_uneven(places: int, trials: int, number: int) -> None:
    generator = np.random.default_rng(places + number)
    found = [slowest_over_fastest(0.01 * launches(number, places, generator), PERIOD)[0].high for _ in range(trials)]
    assert np.mean(np.array(found) < 1) <= 0.08


def test_the_interval_of_the_two_places_alone_would_find_a_slow_one_in_most_even_machines() -> None:
    generator = np.random.default_rng(5)
    alarms = 0
    for _ in range(500):
        y = launches(6, 40, generator)
        apart = y[:, y.mean(axis=0).argmin()] - y[:, y.mean(axis=0).argmax()]
        alarms += apart.mean() + t_quantile(0.05, 5) * apart.std(ddof=1) / math.sqrt(6) < 0
    assert alarms > 300


def test_a_place_that_varies_more_than_others_widens_its_own_interval() -> None:
    generator = np.random.default_rng(6)
    alarms = 0
    for _ in range(500):
        y = launches(6, 40, generator)
        y[:, 7] += 4 * generator.normal(size=6)
        alarms += slowest_over_fastest(0.01 * y, PERIOD)[0].high < 1
    assert alarms < 70


def test_a_slow_place_among_many_is_found_and_its_ratio_covered() -> None:
    generator = np.random.default_rng(7)
    found = covered = 0
    for _ in range(200):
        y = launches(6, 40, generator)
        y[:, 12] -= 10
        estimate, slow, _ = slowest_over_fastest(0.01 * y, PERIOD)
        found += slow == 12 and estimate.high < 1
        covered += estimate.low <= math.exp(-0.1) <= estimate.high
    assert found == 200
    assert covered > 190


def test_few_launches_have_no_interval() -> None:
    one, slow, fast = slowest_over_fastest(np.log([[2.0, 1.0, 1.5]]), PERIOD)
    assert (one.kind, slow, fast) == ("one launch", 1, 0)
    assert one.low == one.high == pytest.approx(0.5)
    two, _, _ = slowest_over_fastest(np.log([[2.0, 1.0], [2.0, 1.5]]), PERIOD)
    assert two.kind == "two values"
    assert (two.low, two.high) == pytest.approx((0.5, 0.75))
