"""Shares of time over launches: a sum over a sum, with an interval on logits.

A median of shares would not equal the sum of its causes: a loss in one of six launches contributes a sixth to the
pooled share, and nothing to the median.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from octant.stats.intervals import Estimate, next_value
from octant.stats.samples import FEW_LAUNCHES
from octant.stats.student import LEVEL, t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from octant.stats.intervals import Period


def pooled_bounds(
    shares: NDArray[np.float64], wholes: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return low end, middle and high end of the pooled share: Student's interval on logits.

    The middle is a ratio of two sums over launches. Its variance is that of a ratio estimate (Cochran 1977, equation
    6.13), transformed to logits by the delta method, so that the ends stay within 0 … 1.

    Args:
        shares: shape (…, launches), at least two, 0 to 1; the ends have shape (…).
        wholes: the time of each launch, of the same shape, above 0.
    """
    k = shares.shape[-1]
    total = wholes.sum(axis=-1)
    middle = np.clip((shares * wholes).sum(axis=-1) / total, 0.0, 1.0)
    residues = wholes * (shares - middle[..., None])
    deviation = np.sqrt(k / (k - 1) * np.square(residues).sum(axis=-1)) / total
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        half = t_quantile(LEVEL, k - 1) * deviation / (middle * (1 - middle))
        odds = middle / (1 - middle)
        low, high = (1 / (1 + np.exp(sign * half) / odds) for sign in (1, -1))
    inside = (middle > 0) & (middle < 1)  # otherwise every share is 0, or every share is 1
    return np.where(inside, low, middle), middle, np.where(inside, high, middle)


def share_over_launches(shares: Sequence[float], wholes: Sequence[float], period: Period) -> Estimate:
    """Return the share of the total time of all launches, with the interval that their number allows.

    Two launches give both shares, one gives its own; neither is an interval.

    Args:
        shares: of each launch, 0 to 1.
        wholes: the totals, above 0, all in one unit.

    Raises:
        ValueError: no launches, or another number of totals.
    """
    k = len(shares)
    if not k or len(wholes) != k:
        raise ValueError("a share over launches requires at least one launch, and the total of each")
    x, w = np.asarray(shares, np.float64), np.asarray(wholes, np.float64)
    if k <= 2:
        middle = float((x * w).sum() / w.sum())
        return Estimate(
            float(x.min()), middle, float(x.max()), "two values" if k == 2 else "one launch", "share", k, period
        )
    low, middle, high = map(float, pooled_bounds(x, w))
    return Estimate(low, middle, high, "student", "share", k, period)


def next_share(shares: Sequence[float], period: Period) -> Estimate | None:
    """Return the prediction interval of the share of one more launch, on logits.

    `None` for fewer than 6 launches, or if a share is 0 or 1, which has no logit.
    """
    if len(shares) < FEW_LAUNCHES or not all(0 < share < 1 for share in shares):
        return None
    odds = next_value([share / (1 - share) for share in shares], "next launch", period)
    low, middle, high = (end / (1 + end) if math.isfinite(end) else 1.0 for end in (odds.low, odds.middle, odds.high))
    return Estimate(low, middle, high, odds.kind, odds.claim, odds.number, period)
