"""Verdicts on runs of different occasions: two stored runs that were not interleaved.

The interval over launches of one occasion does not include differences between occasions; more launches only make a
false alarm more likely. Four occasions of a figure on this machine give its spread. With fewer, a difference holds for
these two occasions only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant.stats.intervals import Estimate
from octant.stats.multiple import benjamini_hochberg
from octant.stats.student import LEVEL, smallest_effect, t_quantile, two_sided_p
from octant.stats.verdicts import MARGIN, Unit, Verdict, no_verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from octant.stats.intervals import Claim, Period
    from octant.stats.verdicts import Word

LEAST_OCCASIONS = 4
LEAST_LAUNCHES = 4  # on each side


@dataclass(frozen=True)
class TwoRuns:
    """Figure in two stored runs, by logarithms of speeds (`log_speeds`)."""

    before: NDArray[np.float64]  # of A's launches
    after: NDArray[np.float64]  # of B's
    history: NDArray[np.float64]  # of one program's figure on this machine, one value per occasion

    @property
    def has_history(self) -> bool:
        """Whether the spread between occasions is known."""
        return len(self.history) >= LEAST_OCCASIONS

    @property
    def launches(self) -> int:
        """The number of launches on the side with fewer."""
        return min(len(self.before), len(self.after))

    @property
    def shorter(self) -> Unit:
        """The unit of `launches`."""
        if len(self.before) == len(self.after):
            return "launches on each side"
        return "launches of A" if len(self.before) < len(self.after) else "launches of B"

    @property
    def difference(self) -> float:
        """The logarithm of B's speed over A's, from the means of logarithms."""
        return float(self.after.mean() - self.before.mean())

    def error(self) -> tuple[float, float]:
        """Return the standard error of the difference, and its degrees of freedom.

        From launches only (Welch 1947), or including the spread between occasions if it is known.
        """
        parts = [float(side.var(ddof=1)) / len(side) for side in (self.before, self.after)]
        if self.has_history:
            return math.sqrt(2 * float(self.history.var(ddof=1)) + sum(parts)), len(self.history) - 1
        weights = [part**2 / (len(side) - 1) for part, side in zip(parts, (self.before, self.after), strict=True)]
        freedom = sum(parts) ** 2 / sum(weights) if sum(weights) else len(self.before) + len(self.after) - 2
        return math.sqrt(sum(parts)), freedom

    def p(self) -> float:
        """Return the two-sided p-value of no difference; requires two launches on each side."""
        error, freedom = self.error()
        if self.difference == 0:
            return 1.0
        return float(two_sided_p(self.difference / error if error else math.inf, freedom))


def occasion_verdicts(
    figures: Sequence[TwoRuns],
    period: Period,
    margin: float = MARGIN,
    adjusted: Callable[[NDArray[np.float64]], NDArray[np.float64]] = benjamini_hochberg,
    threshold: float = LEVEL,
) -> list[Verdict]:
    """Return the verdict on each figure of two runs that were not interleaved.

    With fewer than 4 occasions in its history, the verdict is `differs` or `no difference detected`. Otherwise verdict
    and interval hold for other occasions.

    Args:
        period: from the first launch to the last of both runs and of their histories.
        margin, adjusted, threshold: as for `paired_verdicts`.
    """
    tested = [place for place, runs in enumerate(figures) if runs.launches >= LEAST_LAUNCHES]
    p = np.array([figures[place].p() for place in tested])
    differing = {place for place, adjusted_p in zip(tested, adjusted(p), strict=True) if adjusted_p <= threshold}
    level = LEVEL / max(1, len(tested))
    return [_verdict(runs, place in differing, period, margin, level) for place, runs in enumerate(figures)]


def _verdict(runs: TwoRuns, differs: bool, period: Period, margin: float, level: float) -> Verdict:
    if runs.launches < LEAST_LAUNCHES:
        return no_verdict(runs.launches, runs.shorter, LEAST_LAUNCHES, margin)
    (error, freedom), middle, end = runs.error(), runs.difference, math.log1p(margin)
    half = t_quantile(LEVEL, freedom) * error
    low, high = middle - half, middle + half
    rounds = math.floor(freedom) + 1  # of a paired test with the same degrees of freedom
    number = len(runs.history) if runs.has_history else runs.launches
    claim: Claim = "ratio on other occasions" if runs.has_history else "ratio of two occasions"
    return Verdict(
        _word(runs, differs and abs(middle) >= end, abs(middle) + t_quantile(2 * LEVEL, freedom) * error < end),
        Estimate(math.exp(low), math.exp(middle), math.exp(high), "student", claim, number, period),
        p=runs.p(),
        margin=margin,
        max_undetected_effect=math.expm1(max(abs(low), abs(high))),
        min_detectable_effect=math.expm1(smallest_effect(rounds, level) * math.sqrt(rounds) * error),
        number=runs.launches,
        unit="launches on each side",
    )


def _word(runs: TwoRuns, differs: bool, equivalent: bool) -> Word:
    if not runs.has_history:
        return "differs" if differs else "no difference detected"
    if differs:
        return "faster" if runs.difference > 0 else "slower"
    return "equivalent" if equivalent else "undecided"
