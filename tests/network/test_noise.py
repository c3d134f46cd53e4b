"""What interruptions add to an operation of all ranks: closed forms against drawn ones, and what is read."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from octant.failure import Refusal
from octant.network.noise import Interruption, operation_delay, read_interruptions

LENGTH, EVERY, SECONDS = 50e-6, 10e-3, 15e-6


def drawn_late_s(ranks: int, noise: list[Interruption], trials: int, seed: int) -> NDArray[np.float64]:
    """Each rank meets the interruptions that end after the operation begins; shape (trials,)."""
    random = np.random.default_rng(seed)
    found = np.zeros(trials)
    for kind in noise:
        window = SECONDS + kind.length_s
        number = random.poisson(window / kind.every_s, (trials, ranks))
        for trial, rank in zip(*np.nonzero(number), strict=True):
            begins = random.uniform(-kind.length_s, SECONDS, number[trial, rank])
            found[trial] = max(found[trial], float(np.minimum(kind.length_s, begins + kind.length_s).max()))
    return found


@pytest.mark.parametrize("ranks", [1, 16, 1024])
def test_the_mean_and_the_worst_are_those_of_drawn_interruptions(ranks: int) -> None:
    noise = [Interruption(LENGTH, EVERY), Interruption(5e-6, 1e-3)]
    drawn = drawn_late_s(ranks, noise, 2000, seed=1)
    found = operation_delay(SECONDS, ranks, noise, of=200)
    assert found.mean_s == pytest.approx(drawn.mean(), abs=4 * drawn.std() / math.sqrt(len(drawn)))
    worst = np.median(drawn.reshape(10, 200).max(axis=1))
    assert found.worst_s == pytest.approx(worst, rel=0.1)
    assert found.median_s == pytest.approx(float(np.median(drawn)), abs=3e-6)


def test_one_rank_that_is_rarely_interrupted_waits_for_what_one_interruption_takes_on_average() -> None:
    rare = Interruption(LENGTH, 1e6)
    # Begun within the operation: all of it; begun before: half of it on average.
    assert operation_delay(SECONDS, 1, [rare]).mean_s == pytest.approx(
        (SECONDS * LENGTH + LENGTH**2 / 2) / 1e6, rel=1e-3
    )


@given(
    st.integers(1, 10**6),
    st.lists(st.tuples(st.floats(1e-7, 1e-3), st.floats(2e-3, 10)), min_size=1, max_size=5),
    st.floats(0, 1e-2),
)
def test_more_ranks_are_never_earlier_and_no_rank_is_later_than_the_longest(
    ranks: int, kinds: list[tuple[float, float]], seconds: float
) -> None:
    noise = [Interruption(*kind) for kind in kinds]
    few, many = operation_delay(seconds, ranks, noise), operation_delay(seconds, 2 * ranks, noise)
    longest = max(kind.length_s for kind in noise)
    assert -1e-15 <= few.mean_s <= many.mean_s + 1e-12 <= longest + 2e-12
    assert 0 <= few.median_s <= few.worst_s <= longest


def test_interruptions_are_read_and_bad_ones_refused() -> None:
    kinds = [(one.length_s, one.every_s) for one in read_interruptions("50us/10ms,1us/1ms")]
    assert kinds == [pytest.approx((50e-6, 10e-3)), pytest.approx((1e-6, 1e-3))]
    for bad in ("", "50us", "10ms/50us", "0s/1s", "a/b", ",".join(["1us/1s"] * 65)):
        with pytest.raises(Refusal, match="try"):
            read_interruptions(bad)
