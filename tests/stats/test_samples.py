"""Statistics: laws that hold for any samples, and coverage simulated with a fixed seed."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from octant.stats import samples as stats

SAMPLES = st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=200)


def autoregressive(n: int, memory: float, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return a stationary AR(1) series with unit variance and median 0: `memory` is the correlation of neighbours."""
    noise = generator.normal(size=n) * math.sqrt(1 - memory**2)
    values = np.empty(n)
    values[0] = generator.normal()
    for i in range(1, n):
        values[i] = memory * values[i - 1] + noise[i]
    return values


@given(SAMPLES, st.floats(1, 50))
def test_the_interval_holds_the_median_and_lies_in_the_range(samples: list[float], correlation: float) -> None:
    interval = stats.median_interval(samples, correlation)
    assert min(samples) <= interval.low <= interval.middle <= interval.high <= max(samples)
    assert interval.middle == float(np.median(samples))


@given(SAMPLES, st.integers(-20, 20))
def test_a_change_of_unit_scales_the_interval(samples: list[float], power: int) -> None:
    scale = 2.0**power  # exact in binary, so equality is exact
    once, scaled = stats.median_interval(samples), stats.median_interval([scale * x for x in samples])
    assert (scaled.low, scaled.middle, scaled.high) == (scale * once.low, scale * once.middle, scale * once.high)


@given(st.integers(30, 500), st.integers(0, 2**32 - 1))
def test_more_samples_narrow_the_interval_and_correlation_widens_it(n: int, seed: int) -> None:
    few, many = np.linspace(0, 1, n), np.linspace(0, 1, 16 * n)
    narrow, wide = stats.median_interval(many), stats.median_interval(few)
    assert narrow.high - narrow.low < wide.high - wide.low
    correlated = stats.median_interval(many, correlation=4)
    assert correlated.high - correlated.low > narrow.high - narrow.low


def test_small_samples_give_the_ranks_of_the_published_table() -> None:
    # Le Boudec 2010, table A.1: n = 10 has [x2, x9], n = 20 [x6, x15], n = 50 [x18, x32]; ours may be one rank wider.
    for n, low, high in ((10, 2, 9), (20, 6, 15), (50, 18, 32)):
        interval = stats.median_interval(range(1, n + 1))
        assert low - 1 <= interval.low <= low
        assert high <= interval.high <= high + 1


@pytest.mark.parametrize("n", [7, 30, 200])
@pytest.mark.parametrize("draw", ["exponential", "normal", "standard_cauchy"])
def test_the_interval_covers_the_true_median_95_times_in_100(n: int, draw: str) -> None:
    generator = np.random.default_rng(1)
    truth = {"exponential": math.log(2), "normal": 0.0, "standard_cauchy": 0.0}[draw]
    trials: NDArray[np.float64] = getattr(generator, draw)(size=(2000, n))
    intervals = [stats.median_interval(trial) for trial in trials]
    covered = np.mean([interval.low <= truth <= interval.high for interval in intervals])
    assert 0.94 <= covered <= 1.0


def test_correlated_samples_need_the_wider_interval() -> None:
    generator = np.random.default_rng(2)
    plain, corrected = [], []
    for _ in range(400):
        series = autoregressive(400, 0.8, generator)
        naive = stats.median_interval(series)
        honest = stats.median_interval(series, stats.correlation_time(series))
        plain.append(naive.low <= 0 <= naive.high)
        corrected.append(honest.low <= 0 <= honest.high)
    assert np.mean(plain) < 0.75  # what ignoring the correlation costs
    assert np.mean(corrected) > 0.91


def test_correlation_time_of_known_series() -> None:
    generator = np.random.default_rng(3)
    assert stats.correlation_time(generator.normal(size=4000)) == pytest.approx(1, abs=0.15)
    # The sign of an AR(1) series has correlation (2/pi) asin(memory^k) at lag k (Sheppard's orthant formula).
    exact = 1 + 2 * sum(2 / math.pi * math.asin(0.8**k) for k in range(1, 200))
    assert stats.correlation_time(autoregressive(100_000, 0.8, generator)) == pytest.approx(exact, rel=0.1)
    assert stats.correlation_time(np.ones(50)) == 1
    assert stats.correlation_time([1.0]) == 1
    assert stats.correlation_time([]) == 1


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=100))
def test_correlation_time_is_between_one_and_half_the_samples(samples: list[float]) -> None:
    assert 1 <= stats.correlation_time(samples) <= max(1, len(samples) / 2)


def test_fewer_than_six_samples_that_count_give_the_whole_range_whatever_their_number() -> None:
    few, enough = stats.median_interval(range(59), correlation=10), stats.median_interval(range(60), correlation=10)
    assert (few.low, few.high) == (0, 58)
    assert enough.low > 0
    assert enough.high < 59


def test_an_empty_set_has_no_median() -> None:
    with pytest.raises(ValueError, match="at least one sample"):
        stats.median_interval([])


def test_outliers_are_further_than_five_spreads_from_the_median_wherever_that_lies() -> None:
    edge = 5 * 1.4826
    assert not stats.outliers([-1, -1, 0, 1, edge]).any()
    assert list(stats.outliers([-1, -1, 0, 1, 1.001 * edge])) == [False] * 4 + [True]
    assert list(stats.outliers([999, 999, 1000, 1001, 1001 + edge])) == [False] * 4 + [True]


def test_outliers_of_a_constant_and_of_noise_are_found() -> None:
    assert list(stats.outliers([1, 1, 1, 1, 9])) == [False, False, False, False, True]
    values = np.append(np.random.default_rng(4).normal(size=1000), [8.0])
    assert stats.outliers(values)[-1]
    assert stats.outliers(values).sum() <= 2


def test_drift_is_seen_and_noise_is_not() -> None:
    generator = np.random.default_rng(5)
    steady = generator.normal(100, 1, 400)
    assert stats.drift(steady) == 0
    assert stats.drift(np.concatenate([steady, 1.2 * steady])) == pytest.approx(0.2, abs=0.01)
    assert stats.drift(np.arange(11.0)) == 0  # too few to say


@pytest.mark.parametrize("size", [0.1, 0.5])
def test_a_slow_drift_does_not_hide_behind_the_correlation_that_it_makes(size: float) -> None:
    generator = np.random.default_rng(9)
    time = np.linspace(0, 1, 400)
    for curve in (time, 1 - np.exp(-4 * time)):
        series = (1 + size * curve) * generator.normal(1, 0.005, 400)
        series[::97] *= 3  # preempted samples
        assert stats.drift(series) > 0.03
    assert stats.drift(1 + 0.05 * autoregressive(400, 0.5, generator)) == 0


QUANTITIES: list[Callable[[NDArray[np.float64]], float]] = [
    lambda x: stats.quantiles(x, [0.5])[0],
    lambda x: stats.median_interval(x).middle,
]


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50))
def test_the_half_quantile_is_the_median(samples: list[float]) -> None:
    half, median = (quantity(np.asarray(samples)) for quantity in QUANTITIES)
    assert half == pytest.approx(median)


def test_relative_half_width_of_zero_is_zero() -> None:
    assert stats.Interval(0, 0, 1).relative_half_width == 0
    assert stats.Interval(9, 10, 11).relative_half_width == pytest.approx(0.1)


def test_correlation_time_of_series_worked_by_hand() -> None:
    assert stats.correlation_time([1, 1, 2, 2]) == pytest.approx(1.5)  # sides - - + +: 1 + 1/4, then - 1/2 - 1/4
    assert stats.correlation_time([1, 1, 2]) == 1, "too few to tell"
    assert stats.correlation_time([1, 2, 1, 2]) == 1, "neighbours that part are not fewer samples"


def test_many_samples_at_the_median_are_no_correlation() -> None:
    rare = np.random.default_rng(7).random(4000) < 0.2
    assert stats.correlation_time((1.0 + rare).tolist()) < 1.5


def test_twelve_samples_are_enough_for_a_drift() -> None:
    assert stats.drift([1.0] * 6 + [2.0] * 6) == pytest.approx(1)
    assert stats.drift([1.0] * 5 + [2.0] * 6) == 0
