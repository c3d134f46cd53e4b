"""Shares of time over launches: by hand, and their coverage simulated with fixed seeds."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from octant.stats.intervals import Period
from octant.stats.shares import next_share, pooled_bounds, share_over_launches

MORNING = datetime(2026, 11, 22, 7, 35, tzinfo=UTC)
PERIOD = Period(MORNING, MORNING + timedelta(minutes=3))
TRIALS = 20_000


def launches(shape: str, size: tuple[int, int], seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares and wholes of launches."""
    generator = np.random.default_rng(seed)
    whole = generator.uniform(0.5, 1.5, size) if shape == "unequal times" else np.ones(size)
    if shape == "rare":
        return np.where(generator.random(size) < 0.1, 0.3, 0.02) * np.exp(generator.normal(0, 0.2, size)), whole
    a, b = {"spread": (2, 8), "unequal times": (2, 8), "long tail": (0.5, 5)}[shape]
    return generator.beta(a, b, size), whole


def covered(shape: str, k: int) -> float:
    everything = launches(shape, (200, 5000), 1)
    true = (everything[0] * everything[1]).sum() / everything[1].sum()
    low, _, high = pooled_bounds(*launches(shape, (TRIALS, k), k))
    return float(np.mean((low <= true) & (true <= high)))


@pytest.mark.parametrize("shape", ["spread", "unequal times", "long tail"])
@pytest.mark.parametrize("k", [3, 4, 6, 8, 12])
def test_the_interval_on_logits_covers_the_share_of_all_launches(shape: str, k: int) -> None:
    assert 0.92 <= covered(shape, k) <= 0.97


def test_what_one_launch_in_ten_loses_is_often_not_seen_by_six() -> None:
    assert covered("rare", 6) < 0.6
    assert covered("rare", 24) > 0.85


def test_the_share_of_several_launches_is_a_sum_over_a_sum() -> None:
    estimate = share_over_launches((0.5, 0.1, 0.1), (1.0, 1.0, 8.0), PERIOD)
    assert estimate.middle == pytest.approx(1.4 / 10)
    assert estimate.text == "95 % interval for the share of the total time of 3 launches between 07:35 and 07:38"
    both = share_over_launches((0.5, 0.1), (1.0, 3.0), PERIOD)
    assert (both.low, both.high, both.kind) == (0.1, 0.5, "two values")
    assert both.middle == pytest.approx(0.2)
    assert share_over_launches((0.3,), (2.0,), PERIOD).text.startswith("range within one launch")
    with pytest.raises(ValueError, match="at least one launch"):
        share_over_launches((), (), PERIOD)


def test_the_ends_are_those_of_the_logit_by_hand() -> None:
    """Shares of 0.1, 0.2 and 0.3 of equal times: deviation 0.1/√3, logit's 0.1/√3/0.16, t 4.3027."""
    estimate = share_over_launches((0.1, 0.2, 0.3), (1.0, 1.0, 1.0), PERIOD)
    half = 4.302653 * 0.1 / 3**0.5 / 0.16
    assert estimate.low / (1 - estimate.low) == pytest.approx(0.25 * np.exp(-half), rel=1e-6)
    assert estimate.high / (1 - estimate.high) == pytest.approx(0.25 * np.exp(half), rel=1e-6)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(1e-3, 1e3)), min_size=1, max_size=20))
def test_a_share_and_its_ends_lie_within_the_whole(pairs: list[tuple[float, float]]) -> None:
    shares, wholes = zip(*pairs, strict=True)
    estimate = share_over_launches(shares, wholes, PERIOD)
    assert 0 <= estimate.low <= estimate.high <= 1
    assert estimate.low - 1e-12 <= estimate.middle <= estimate.high + 1e-12
    assert min(shares) - 1e-12 <= estimate.middle <= max(shares) + 1e-12


def test_launches_that_lose_nothing_have_lost_nothing() -> None:
    estimate = share_over_launches((0.0,) * 6, (1.0,) * 6, PERIOD)
    assert (estimate.low, estimate.middle, estimate.high) == (0, 0, 0)
    assert next_share((0.0,) * 6, PERIOD) is None


def test_the_next_launch_loses_a_share() -> None:
    following = next_share((0.3, 0.6, 0.9, 0.95, 0.97, 0.99), PERIOD)
    assert following is not None
    assert 0 < following.low < 0.3
    assert 0.99 < following.high < 1
    assert following.claim == "next launch"
    assert next_share((0.1,) * 5, PERIOD) is None
