"""Change of a curve from one level to another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_RATIO = 1.3
"""Least ratio of two levels, which growth within one level must not reach."""
LEAST_POINTS = 3
"""Minimum number of points on each side."""


@dataclass(frozen=True)
class Change:
    """Change between two neighbouring points, from the level before to the level after."""

    last: float  # last position of the lower level
    first: float  # first position of the higher level
    before: float
    after: float

    @property
    def place(self) -> float:
        """The geometric mean of the two positions."""
        return math.sqrt(self.last * self.first)


def change_of(points: Sequence[tuple[float, float]], least_ratio: float = LEAST_RATIO) -> Change | None:
    """Return the position where a curve of two levels rises.

    Two constants, one on each side, minimise the sum of squares of the logarithms. Levels are medians.

    Args:
        points: (position, positive value), ascending and positive.
        least_ratio: of the higher level to the lower one.

    Returns:
        `None` if the curve is too short, falls, or rises by less.
    """
    logs = [math.log(value) for _, value in points]
    sums = [0.0, *accumulate(logs)]
    number = len(logs)

    def explained(split: int) -> float:
        """Return the reduction of the sum of squares by two levels."""
        return sums[split] ** 2 / split + (sums[-1] - sums[split]) ** 2 / (number - split)

    splits = range(LEAST_POINTS, number - LEAST_POINTS + 1)
    if not splits:
        return None
    at = max(splits, key=explained)
    before, after = (median(value for _, value in part) for part in (points[:at], points[at:]))
    if after < least_ratio * before:
        return None
    return Change(points[at - 1][0], points[at][0], before, after)
