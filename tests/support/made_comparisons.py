"""Comparisons of which every ratio is written in the test."""

import numpy as np
from numpy.typing import ArrayLike

from fake_summary import fake_summary
from octant.analysis.compare import Comparisons, compare
from octant.store import Pair
from octant.store.run_request import Looks

STEPS = np.array([-1.0, 1.0, -0.5, 0.5, 0.7, -0.7])  # of launches about their mean
QUIET, LOUD = 0.001, 0.1
MIXED = ((1.0, QUIET), (1.2, QUIET), (0.9, QUIET), (1.05, LOUD), (0.8, QUIET), (1.5, QUIET))


def comparison_of(
    *sides: tuple[float, float], rounds: int = 6, looks: Looks = "once", margin: float = 0.03
) -> Comparisons:
    """Two runs measured alternately; for each figure the speed of B over A, and the spread of a round."""
    steps = np.resize(STEPS, rounds)
    after = [speed * np.exp(spread * (steps - steps.mean())) for speed, spread in sides]
    return of_values(np.ones((len(sides), rounds)), after, looks, margin)


def of_values(
    before: ArrayLike, after: ArrayLike, looks: Looks | None = "once", margin: float = 0.03, better: str = "higher"
) -> Comparisons:
    rounds = np.asarray(before).shape[-1]
    pair = Pair("20261122-000000-aaaa", "old", rounds, looks) if looks else None
    sides = (
        fake_summary(before, "20261122-000000-aaaa", better=better),
        fake_summary(after, "20261122-000001-bbbb", pair, better),
    )
    return compare(*sides, margin=margin)
