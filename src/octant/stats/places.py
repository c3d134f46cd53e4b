"""Comparison of concurrent places: the slowest over the fastest, with an interval.

The two places are selected from the same launches, and the range grows with the number of places by chance. Therefore
the interval is Tukey's for all pairs.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from octant.stats.intervals import Estimate
from octant.stats.student import LEVEL, t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from octant.stats.intervals import Kind, Period

LEAST_FOR_INTERVAL = 3
_error_function = np.vectorize(math.erf, otypes=[np.float64])


def slowest_over_fastest(y: NDArray[np.float64], period: Period) -> tuple[Estimate, int, int]:
    """Return the speed ratio of the slowest and the fastest place, paired by launch, and their indices.

    Three or more launches give an interval: the wider of Tukey's for all pairs of places, with residues of a two-way
    layout (Miller 1981, section 2.1), and Student's of the pair, which covers places with larger variance. Two launches
    give the ratio of the same two places in each.

    Args:
        y: logarithms of the speed of each place in each launch, shape (launches, places), at least two places.
    """
    launches, places = y.shape
    means = y.mean(axis=0)
    slow, fast = int(means.argmin()), int(means.argmax())
    apart = y[:, slow] - y[:, fast]
    middle = float(apart.mean())
    if launches < LEAST_FOR_INTERVAL:
        low, middle, high = map(float, np.exp([apart.min(), middle, apart.max()]))
        kind: Kind = "two values" if launches == 2 else "one launch"
        return Estimate(low, middle, high, kind, "places", launches, period), slow, fast
    residues = y - means - (y.mean(axis=1) - y.mean())[:, None]
    freedom = (places - 1) * (launches - 1)
    spread = math.sqrt(float(np.square(residues).sum()) / freedom)
    of_all = studentized_range(places, freedom) * spread
    own = t_quantile(LEVEL, launches - 1) * float(apart.std(ddof=1))
    half = max(of_all, own) / math.sqrt(launches)
    low, high = math.exp(middle - half), math.exp(middle + half)
    return Estimate(low, math.exp(middle), high, "student", "places", launches, period), slow, fast


@cache
def studentized_range(number: int, freedom: float, level: float = LEVEL) -> float:
    """Return the upper `level` quantile of the studentized range of `number` normal values.

    By integration over the deviation and over the least value (Tukey 1953): 4.339 for 3 values and 6 degrees of
    freedom.
    """
    if number == 2:
        return math.sqrt(2) * t_quantile(level, freedom)
    ranges = np.linspace(0, 40, 801)
    within = _range_shares(number, ranges)
    reach = 9 / math.sqrt(2 * freedom)
    edges = np.linspace(max(0.0, 1 - reach), 1 + reach, 1001)
    deviation = (edges[1:] + edges[:-1]) / 2
    weight = np.exp((freedom - 1) * np.log(deviation) - freedom * (deviation**2 - 1) / 2)
    low, high = 0.0, float(ranges[-1])
    for _ in range(60):
        middle = (low + high) / 2
        share = float(weight @ np.interp(middle * deviation, ranges, within) / weight.sum())
        low, high = (middle, high) if share < 1 - level else (low, middle)
    return high


def _range_shares(number: int, ranges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that the range of so many normal values is at most each of these."""
    z = np.linspace(-8, 8, 641)
    density = np.exp(-(z**2) / 2)
    grid = np.linspace(-48, 8, 2241)
    below = (1 + _error_function(grid / math.sqrt(2))) / 2
    inside = np.interp(z, grid, below) - np.interp(z - ranges[:, None], grid, below)
    # The greatest value lies at z, the others within the range below it.
    shares: NDArray[np.float64] = number * (np.clip(inside, 0, 1) ** (number - 1)) @ density
    return shares * float(z[1] - z[0]) / math.sqrt(2 * math.pi)
