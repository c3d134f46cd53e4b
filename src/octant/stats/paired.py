"""Verdicts from paired rounds: both sides are measured in each round, in random order.

A drift of the machine that affects both sides of a round cancels in the ratio. Student's test on the logarithms of the
ratios is used to 11 rounds, signed ranks from 12, which are more robust against tails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from octant.stats.intervals import Estimate
from octant.stats.multiple import benjamini_hochberg
from octant.stats.student import LEVEL, rounds_needed, smallest_effect, t_quantile, two_sided_p
from octant.stats.verdicts import MARGIN, Verdict, no_verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from octant.stats.intervals import Period
    from octant.stats.verdicts import Word

Array: TypeAlias = "NDArray[np.float64]"

LEAST_ROUNDS = 4
RANKED_ROUNDS = 12  # least number of rounds for signed ranks


def paired_p(x: Array) -> Array:
    """Return the two-sided p-value of no difference.

    Args:
        x: logarithms of ratios, shape (…, rounds), at least two rounds; p-values have shape (…).
    """
    n = x.shape[-1]
    return student_p(x) if n < RANKED_ROUNDS else _signed_rank_p(x)


def student_p(x: Array) -> Array:
    """Return the p-value as `paired_p`, by Student's test for any number of rounds."""
    n = x.shape[-1]
    mean, spread = x.mean(axis=-1), x.std(axis=-1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, 0.0, mean * math.sqrt(n) / spread)
    return two_sided_p(t, n - 1)


def _signed_rank_p(x: Array) -> Array:
    """Return the p-value of Wilcoxon's test by Walsh averages; averages of zero count half."""
    n = x.shape[-1]
    averages = _walsh_averages(x)
    positive = (averages > 0).sum(axis=-1) + (averages == 0).sum(axis=-1) / 2
    fewer = np.minimum(positive, averages.shape[-1] - positive)
    p: Array = np.minimum(2 * _rank_sum_shares(n)[np.ceil(fewer).astype(int)], 1.0)
    return p


def _walsh_averages(x: Array) -> Array:
    first, second = np.triu_indices(x.shape[-1])
    averages: Array = (x[..., first] + x[..., second]) / 2
    return averages


@cache
def _rank_sum_shares(n: int) -> Array:
    """Return at index w the probability that ranks with a positive sign sum to w or less under no difference."""
    ways = np.ones(1)
    for rank in range(1, n + 1):
        ways = (np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))) / 2
    return np.cumsum(ways)


def centre(x: Array) -> Array:
    """Return the middle of `paired_bounds`: the mean to 11 rounds, then Hodges and Lehmann's estimate.

    Args:
        x: as in `paired_p`, at least one round; the estimates have shape (…).
    """
    middle: Array = x.mean(axis=-1) if x.shape[-1] < RANKED_ROUNDS else np.median(_walsh_averages(x), axis=-1)
    return middle


def paired_levels(before: Array, after: Array) -> tuple[float, float]:
    """Return the levels of both sides of paired rounds, whose difference is exactly the estimate.

    The centre of the rounds' midpoints, minus and plus half of the centre of the differences. Medians of the two sides
    have another difference, whose sign may even be opposite.

    Args:
        before, after: logarithms of the values of A and B in the same rounds, at least one.
    """
    level, half = float(centre((before + after) / 2)), float(centre(after - before)) / 2
    return level - half, level + half


def paired_bounds(x: Array, level: float = LEVEL) -> tuple[Array, Array, Array]:
    """Return low end, middle and high end of the interval of the logarithm of the ratio, at 1 - level.

    Student's about the mean to 11 rounds, then Hodges and Lehmann's (1963) from the Walsh averages.

    Args:
        x: as in `paired_p`; the ends have shape (…).
    """
    n = x.shape[-1]
    if n < RANKED_ROUNDS:
        half = t_quantile(level, n - 1) * x.std(axis=-1, ddof=1) / math.sqrt(n)
        middle = centre(x)
        return middle - half, middle, middle + half
    averages = np.sort(_walsh_averages(x), axis=-1)
    cut = max(1, int(np.searchsorted(_rank_sum_shares(n), level / 2, side="right")))  # the widest that n rounds give
    return averages[..., cut - 1], centre(x), averages[..., -cut]


def ratio_in_rounds(x: Array, period: Period, level: float = LEVEL) -> Estimate:
    """Return the ratio over paired rounds with its interval at 1 - level.

    Args:
        x: its logarithm in each round, at least two.
    """
    low, middle, high = (math.exp(float(end)) for end in paired_bounds(x, level))
    kind: Literal["student", "signed ranks"] = "student" if len(x) < RANKED_ROUNDS else "signed ranks"
    return Estimate(low, middle, high, kind, "ratio in rounds", len(x), period)


def paired_verdicts(
    figures: Sequence[Array],
    period: Period,
    margin: float = MARGIN,
    adjusted: Callable[[Array], Array] = benjamini_hochberg,
    threshold: float = LEVEL,
) -> list[Verdict]:
    """Return the verdict on each figure of a report.

    A figure is faster or slower if its adjusted p-value is at most `threshold` and the ratio is beyond the margin. It
    is equivalent if the interval at 1 - 2 `threshold` is within the margin (two one-sided tests: Schuirmann 1987).

    Args:
        figures: for each, the logarithms of B's speed over A's by round (differences of `log_speeds`).
        adjusted: p-values corrected for the number of figures: for a gate `holm`.
    """
    tested = [place for place, x in enumerate(figures) if len(x) >= LEAST_ROUNDS]
    p = np.array([float(paired_p(figures[place])) for place in tested])
    differing = {place for place, adjusted_p in zip(tested, adjusted(p), strict=True) if adjusted_p <= threshold}
    level = LEVEL / max(1, len(tested))
    return [
        verdict_of(x, place in differing, is_equivalent(x, margin, threshold), period, margin, level)
        for place, x in enumerate(figures)
    ]


def is_equivalent(x: Array, margin: float, threshold: float = LEVEL) -> bool:
    """Return whether two one-sided tests at `threshold` confirm equivalence in at least 4 rounds."""
    if len(x) < LEAST_ROUNDS:
        return False
    low, _, high = paired_bounds(x, 2 * threshold)
    return bool(-math.log1p(margin) < low and high < math.log1p(margin))


def verdict_of(
    x: Array, differs: bool, equivalent: bool, period: Period, margin: float, level: float = LEVEL
) -> Verdict:
    """Return the verdict on one figure whose tests are decided.

    Args:
        x: logarithms of B's speed over A's, by round.
        differs: whether a difference is proven; the verdict also requires a ratio beyond the margin.
        equivalent: whether the difference is proven to be within the margin.
        level: of the test, for the required number of rounds.
    """
    rounds = len(x)
    if rounds < LEAST_ROUNDS:
        return no_verdict(rounds, "paired rounds", LEAST_ROUNDS, margin)
    speed = ratio_in_rounds(x, period)
    low, middle, high = map(math.log, (speed.low, speed.middle, speed.high))
    word: Word = "equivalent" if equivalent else "undecided"
    if differs and abs(middle) >= math.log1p(margin):
        word = "faster" if middle > 0 else "slower"
    spread = float(x.std(ddof=1))
    unclear = word == "undecided" and spread > 0 and margin > 0
    needed = rounds_needed(math.log1p(margin) / spread, level) if unclear else 0
    return Verdict(
        word,
        speed,
        p=float(paired_p(x)),
        margin=margin,
        max_undetected_effect=math.expm1(max(abs(low), abs(high))),
        min_detectable_effect=math.expm1(smallest_effect(rounds, level) * spread),
        number=rounds,
        needed=needed if needed > rounds else None,
    )
